/** A value that survives `JSON.parse(JSON.stringify(value))` unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
/** A JSON object; `__proto__` is a key like any other. */
export type JsonObject = { readonly [key: string]: JsonValue };
