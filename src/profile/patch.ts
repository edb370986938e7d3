import { CodedError, isObject } from '../base/index.js';
import type { Row } from './profile.js';

/** One change of a profile's rows (runtime §1.5, decision 35). */
export type PatchOperation =
  | { readonly insert: readonly Row[]; readonly before?: string; readonly after?: string }
  | { readonly id: string; readonly module?: string; readonly remove: true }
  | ({
      readonly id: string;
      /** What the row must name; another one skips the operation with a warning. */
      readonly module?: string;
      /** Merged into the config: mappings by key, all else replaced. */
      readonly merge?: Readonly<Record<string, unknown>>;
    } & Partial<Pick<Row, 'config' | 'disabled' | 'optional'>>);

/** Operations with whoever says them. */
export interface Patch {
  /** The absolute path of its file, or what people know it by. */
  readonly label: string;
  readonly operations: readonly PatchOperation[];
}

const ROW_KEYS = ['id', 'module', 'config', 'disabled', 'optional'];
const INSERT_KEYS = ['insert', 'before', 'after'];
const REMOVE_KEYS = ['id', 'module', 'remove'];
const CHANGE_KEYS = ['id', 'module', 'config', 'merge', 'disabled', 'optional'];

/**
 * A patch as its file holds it.
 *
 * @param from what the rows that it inserts are seen from
 * @throws CodedError `INVALID_PATCH` naming label, operation and key
 */
export function parsePatch(value: unknown, label: string, from?: string): Patch {
  if (value === undefined || value === null)
    throw invalid(label, 'it is empty: write [] for a patch that changes nothing');
  if (!Array.isArray(value)) throw invalid(label, 'a patch is a list of operations');
  return { label, operations: value.map((item, index) => parseOperation(item, label, `operation ${index + 1}`, from)) };
}

/**
 * The rows of a profile file or an insert.
 *
 * @throws CodedError `INVALID_PATCH`
 */
export function parseRows(value: unknown, label: string, where: string, from?: string): readonly Row[] {
  if (!Array.isArray(value)) throw invalid(label, `${where} must be a list of rows`);
  return value.map((row, index) => parseRow(row, label, `${where}[${index}]`, from));
}

function parseOperation(value: unknown, label: string, where: string, from: string | undefined): PatchOperation {
  if (!isObject(value)) throw invalid(label, `${where} must be a mapping`);
  if ('insert' in value) {
    requireKeys(value, INSERT_KEYS, label, where);
    const { before, after } = value;
    if (before !== undefined && after !== undefined) throw invalid(label, `${where} has both before and after`);
    for (const key of ['before', 'after']) requireText(value, key, label, where);
    return { ...value, insert: parseRows(value.insert, label, `${where}: insert`, from) };
  }
  if (value.id === undefined) throw invalid(label, `${where} names no row: it needs an id, or an insert`);
  requireText(value, 'id', label, where);
  requireText(value, 'module', label, where);
  if ('remove' in value) {
    requireKeys(value, REMOVE_KEYS, label, where);
    if (value.remove !== true) throw invalid(label, `${where}: remove must be true`);
    return value as unknown as PatchOperation;
  }
  requireKeys(value, CHANGE_KEYS, label, where);
  requireFields(value, label, where);
  if (value.merge !== undefined && !isObject(value.merge)) throw invalid(label, `${where}: merge must be a mapping`);
  return value as unknown as PatchOperation;
}

function parseRow(value: unknown, label: string, where: string, from: string | undefined): Row {
  if (!isObject(value)) throw invalid(label, `${where} must be a mapping`);
  requireKeys(value, ROW_KEYS, label, where);
  for (const key of ['id', 'module']) {
    if (value[key] === undefined) throw invalid(label, `${where} has no ${key}`);
    requireText(value, key, label, where);
  }
  requireFields(value, label, where);
  return { ...(value as unknown as Row), ...(from !== undefined && { from }) };
}

function requireFields(value: Readonly<Record<string, unknown>>, label: string, where: string): void {
  const { config } = value;
  if (config !== undefined && !isObject(config)) throw invalid(label, `${where}: config must be a mapping`);
  for (const key of ['disabled', 'optional']) {
    if (value[key] !== undefined && typeof value[key] !== 'boolean')
      throw invalid(label, `${where}: ${key} must be true or false`);
  }
}

function requireKeys(value: object, allowed: readonly string[], label: string, where: string): void {
  const extra = Object.keys(value).find((key) => !allowed.includes(key));
  if (extra === undefined) return;
  throw invalid(label, `${where}: ${JSON.stringify(extra)} is unknown; allowed: ${allowed.join(', ')}`);
}

function requireText(value: Readonly<Record<string, unknown>>, key: string, label: string, where: string): void {
  const text = value[key];
  if (text === undefined || (typeof text === 'string' && text.trim() !== '')) return;
  throw invalid(label, `${where}: ${key} must be a non-empty string`);
}

function invalid(label: string, problem: string): CodedError {
  return new CodedError('INVALID_PATCH', `${label}: ${problem}`);
}
