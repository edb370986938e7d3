import { getMetadataStorage } from 'class-validator';
import type { Newable } from 'inversify';
import { descriptionsOf } from './describe.js';
import type { JsonSchemaConfig } from './json-schema-config.js';

/** One key that a module's config may have, as people read of it. */
export interface ConfigKey {
  readonly name: string;
  /** As `integer ≥ 1`, `"low" or "high"`, `list of strings`. */
  readonly type: string;
  /** Absent: there is none. */
  readonly default?: unknown;
  /** Whether a config without it is refused. */
  readonly required: boolean;
  readonly description: string;
}

/** The keys of a module's config, from whatever describes it, in the order in which they are declared. */
export function configKeysOf(config: Newable<object> | JsonSchemaConfig | undefined): readonly ConfigKey[] {
  if (config === undefined) return [];
  return typeof config === 'function' ? keysOfDto(config) : keysOfSchema(config);
}

type Rules = ReadonlyMap<string, Rule>;
interface Rule {
  readonly constraints: readonly unknown[];
  readonly each: boolean;
}

function keysOfDto(type: Newable<object>): readonly ConfigKey[] {
  const defaults = new type() as Readonly<Record<string, unknown>>;
  const descriptions = descriptionsOf(type);
  return [...rulesOf(type)].map(([name, rules]) => {
    const value = defaults[name];
    return {
      name,
      type: typeOf(rules, value),
      ...(value !== undefined && { default: value }),
      required: value === undefined && !rules.has('isOptional'),
      description: descriptions[name] ?? '',
    };
  });
}

function rulesOf(type: Newable<object>): ReadonlyMap<string, Rules> {
  const byKey = new Map<string, Map<string, Rule>>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
    const rules = byKey.get(rule.propertyName) ?? new Map<string, Rule>();
    byKey.set(rule.propertyName, rules);
    const name = rule.type === 'conditionalValidation' ? 'isOptional' : (rule.name ?? rule.type);
    rules.set(name, { constraints: rule.constraints ?? [], each: rule.each });
  }
  return byKey;
}

function typeOf(rules: Rules, value: unknown): string {
  const choices = rules.get('isIn')?.constraints[0];
  const choice = Array.isArray(choices) ? choices.map((one) => JSON.stringify(one)).join(' or ') : undefined;
  if (choice !== undefined) return rules.get('isIn')?.each === true ? `list of ${choice}` : choice;
  if (rules.get('isString')?.each === true) return 'list of strings';
  if (rules.has('isInt') || rules.has('isCount')) return `integer${rangeOf(rules)}`;
  if (rules.has('isNumber')) return `number${rangeOf(rules)}`;
  if (rules.has('isBoolean')) return 'true or false';
  if (rules.has('isHttpUrl')) return 'URL';
  if (rules.has('isString') || rules.has('matches')) return 'string';
  return Array.isArray(value) ? 'list' : 'mapping';
}

function rangeOf(rules: Rules): string {
  const isPositive = rules.has('isCount') || rules.has('isPositive');
  const least = isPositive ? 1 : rules.get('min')?.constraints[0];
  return least === undefined ? '' : ` ≥ ${least}`;
}

function keysOfSchema({ properties = {}, required = [] }: JsonSchemaConfig): readonly ConfigKey[] {
  const needed = new Set(required as readonly string[]);
  return Object.entries(properties as Readonly<Record<string, Readonly<Record<string, unknown>>>>).map(
    ([name, schema]) => ({
      name,
      type: Array.isArray(schema.enum)
        ? schema.enum.map((one) => JSON.stringify(one)).join(' or ')
        : String(schema.type ?? 'any'),
      ...(schema.default !== undefined && { default: schema.default }),
      required: needed.has(name),
      description: String(schema.description ?? ''),
    }),
  );
}
