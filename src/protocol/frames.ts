import { toError } from '../base/index.js';
import { JsonRpcResponseError, RpcErrorCode } from './errors.js';
import type { JsonObject } from './json.js';

/** What makes a request answerable; echoed with its type. */
export type FrameId = string | number;

/** How every frame of ours begins, and what is searched for in a line of junk with a frame glued to it (decision 7). */
const OPENING = '{"jsonrpc":"2.0"';
const BRACE = 0x7b;

/** `id` needs no escaping. It stands before `params`, so that a reader can answer even what it will not read. */
export function encodeRequest(id: string, method: string, params: object): string {
  return `${OPENING},"id":"${id}","method":${JSON.stringify(method)},"params":${JSON.stringify(params) ?? '{}'}}\n`;
}

/** `paramsJson` is JSON text and goes in as it stands; undefined leaves the member out (core §1.3). */
export function encodeNotification(method: string, params: object | undefined): string {
  const json = params && JSON.stringify(params);
  return json === undefined
    ? `${OPENING},"method":${JSON.stringify(method)}}\n`
    : `${openNotification(method, json)}}\n`;
}

/** A notification as far as its params; what is still missing is their rest, a brace and the newline. */
export function openNotification(method: string, paramsJson: string): string {
  return `${OPENING},"method":${JSON.stringify(method)},"params":${paramsJson}`;
}

/** @throws TypeError, RangeError `result` cannot be written as JSON */
export function encodeResult(id: FrameId, result: unknown): string {
  return `${OPENING},"id":${JSON.stringify(id)},"result":${JSON.stringify(result) ?? 'null'}}\n`;
}

/** Whatever a handler threw, as the error of its answer (core §1.4). Never throws. */
export function encodeError(id: FrameId, thrown: unknown): string {
  const { code, message, data } = toResponseError(thrown);
  const dataJson = data === undefined ? undefined : stringifyOrDrop(data);
  const member = dataJson === undefined ? '' : `,"data":${dataJson}`;
  return `${OPENING},"id":${JSON.stringify(id)},"error":{"code":${code},"message":${JSON.stringify(message)}${member}}}\n`;
}

function toResponseError(thrown: unknown): { code: number; message: string; data?: unknown } {
  const { name, message, code, data } = errorOf(thrown) as Partial<JsonRpcResponseError>;
  const text = String(message);
  // By name: a plugin may carry its own copy of the class.
  if (name !== 'JsonRpcResponseError' || !Number.isSafeInteger(code))
    return { code: RpcErrorCode.internal, message: text };
  return { code: code as number, message: text, data };
}

function errorOf(thrown: unknown): Error {
  try {
    return toError(thrown);
  } catch {
    return new Error('the handler threw a value that has no text');
  }
}

function stringifyOrDrop(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The object on a line, else undefined: not JSON, or `null`, an array, a scalar. */
export function parseObject(text: string): JsonObject | undefined {
  // Most junk ends here: a flood of it would keep the parser busy throwing.
  if (text.charCodeAt(0) !== BRACE && text.trimStart().charCodeAt(0) !== BRACE) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The frame at the end of a line that is no frame as a whole. */
export function recoverObject(text: string): JsonObject | undefined {
  const at = text.indexOf(OPENING, 1);
  return at < 0 ? undefined : parseObject(text.slice(at));
}

/** Of what `JSON.parse` gives: an object, and neither `null` nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A number that JavaScript may have rounded would be echoed as another id. */
export function isFrameId(value: unknown): value is FrameId {
  return typeof value === 'string' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER);
}

/** The error member of a response; a missing message and a code that is no number are tolerated (core §1.4). */
export function responseError({ message, code, data }: JsonObject): JsonRpcResponseError {
  return new JsonRpcResponseError(
    typeof message === 'string' ? message : 'JSON-RPC error',
    typeof code === 'number' ? code : undefined,
    data,
  );
}

const SCALAR_MEMBER = /\s*"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*|true|false|null)\s*,/y;

/** The id of the request that a truncated frame begins with, if it stands before anything bulky. */
export function requestIdIn(head: string): FrameId | undefined {
  const opening = head.indexOf(OPENING);
  const start = opening < 0 ? head.search(/\S/) : opening;
  if (head[start] !== '{') return undefined;
  const members = new Map<string | undefined, unknown>();
  SCALAR_MEMBER.lastIndex = start + 1;
  for (let match = SCALAR_MEMBER.exec(head); match !== null; match = SCALAR_MEMBER.exec(head)) {
    members.set(match[1], parseObject(`{"value":${match[2]}}`)?.value);
  }
  const id = members.get('id');
  return isFrameId(id) && typeof members.get('method') === 'string' ? id : undefined;
}
