import { setImmediate, setTimeout } from 'node:timers/promises';
import type { LlmFailure, Message, StreamChunk } from '../../protocol/index.js';
import type { ModelRequest } from '../adapter.js';
import { LlmError } from '../errors.js';
import { codeOfHttpStatus } from '../http-failure.js';
import { chunksOf } from './answer.js';
import { textOfMessage } from './message-text.js';
import { readScript, type ScriptError, type ScriptItem } from './script-file.js';

/** Plays the items of a file, each session from the start and only forward (decision 24). */
export class ScriptModel {
  readonly #path: string;
  readonly #cursors = new Map<string, number>();
  #items: Promise<readonly ScriptItem[]> | undefined;

  /** `path` is absolute; the file is read at the first call, and again only after a failure. */
  constructor(path: string) {
    this.#path = path;
  }

  async *play(request: ModelRequest): AsyncGenerator<readonly StreamChunk[]> {
    const { signal } = request;
    const item = this.#next(await this.#load(), request);
    const { deltas, closing } = chunksOf(item, item.chunkSize);
    for (const delta of deltas.slice(0, item.error?.afterDeltas)) {
      await pause(item.delayMs ?? 0, signal);
      yield delta;
    }
    if (item.hang) await aborted(signal);
    yield item.error === undefined ? closing : [{ type: 'finish', reason: failed(item.error) }];
  }

  #load(): Promise<readonly ScriptItem[]> {
    if (this.#items === undefined) {
      const items = readScript(this.#path);
      this.#items = items;
      items.catch(() => {
        this.#items = undefined;
      });
    }
    return this.#items;
  }

  /** @throws LlmError `SCRIPT_EXHAUSTED` */
  #next(items: readonly ScriptItem[], { sessionId, messages }: ModelRequest): ScriptItem {
    const from = this.#cursors.get(sessionId) ?? 0;
    const at = items.findIndex((item, index) => index >= from && suits(item, messages.at(-1)));
    this.#cursors.set(sessionId, at < 0 ? items.length : at + 1);
    const item = items[at];
    if (item !== undefined) return item;
    const message = `the script ${this.#path} has no item left for session "${sessionId}" (${items.length} in all)`;
    throw new LlmError({ code: 'SCRIPT_EXHAUSTED', message });
  }
}

function suits({ when }: ScriptItem, last: Message | undefined): boolean {
  return when === undefined || (last !== undefined && textOfMessage(last).includes(when.lastMessageIncludes));
}

function failed(error: ScriptError): { readonly kind: 'error'; readonly failure: LlmFailure } {
  const { status, message, retryAfterMs } = error;
  const code = error.code ?? (status === undefined ? 'UNKNOWN' : codeOfHttpStatus(status, { message }));
  return {
    kind: 'error',
    failure: {
      code,
      message,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { providerRetryAfterMs: retryAfterMs }),
    },
  };
}

/** A turn of the event loop at least, so that an abort is heard between two deltas. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) await setImmediate(undefined, { signal });
  else await setTimeout(ms, undefined, { signal });
}

/** Only ever rejects. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
