import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  type JsonObject,
  JsonRpcLineTransport,
  type JsonRpcTransportOptions,
  type TransportDiagnostic,
} from '../../src/protocol/index.js';

/** A transport between two streams that the test holds the other ends of. */
export interface TransportRig {
  readonly transport: JsonRpcLineTransport;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly diagnostics: TransportDiagnostic[];
  /** Requests and notifications that were handed to the handlers, in order; requests are answered with `{}`. */
  readonly heard: { readonly method: string; readonly params: JsonObject }[];
  /** Writes lines to the input, and waits until they were read and answered. */
  send(...lines: (string | object)[]): Promise<void>;
  /** The frames that were written so far. */
  written(): JsonObject[];
  writtenText(): string;
}

export function openTransport(
  options: JsonRpcTransportOptions = {},
  { start = true, handlers = true }: { readonly start?: boolean; readonly handlers?: boolean } = {},
): TransportRig {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1024 * 1024 });
  const diagnostics: TransportDiagnostic[] = [];
  const heard: { method: string; params: JsonObject }[] = [];
  const transport = new JsonRpcLineTransport(input, output, {
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  if (handlers) {
    transport.onNotification((method, params) => void heard.push({ method, params }));
    transport.onRequest((method, params) => {
      heard.push({ method, params });
      return {};
    });
  }
  if (start) transport.start();
  let text = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    transport,
    input,
    output,
    diagnostics,
    heard,
    send: async (...lines) => {
      input.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
      await turns();
    },
    written: () => framesOf(text),
    writtenText: () => text,
  };
}

export function framesOf(text: string): JsonObject[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Enough turns of the event loop for in-memory streams to deliver and for handlers to answer. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}
