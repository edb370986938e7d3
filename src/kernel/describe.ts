const KEY = Symbol.for('dsh/descriptions');

type Described = { [KEY]?: Record<string, string> };

/** What a key of a config is for, with its unit: one or more sentences, which the module reference gives (decision 36). */
export function Describe(text: string): PropertyDecorator {
  return ({ constructor: type }, key) => {
    if (!Object.hasOwn(type, KEY)) Object.defineProperty(type, KEY, { value: {} });
    const texts = (type as Described)[KEY];
    if (texts !== undefined) texts[String(key)] = text;
  };
}

/** The descriptions of a config class and of what it extends, by key. */
export function descriptionsOf(type: object): Readonly<Record<string, string>> {
  const parent: unknown = Object.getPrototypeOf(type);
  const inherited = typeof parent === 'function' ? descriptionsOf(parent) : {};
  return { ...inherited, ...(Object.hasOwn(type, KEY) ? (type as Described)[KEY] : {}) };
}
