import { CodedError } from '../base/index.js';
import type { FinishReason, LlmFailure, StreamChunk } from '../protocol/index.js';
import { failureFacts } from './failure-facts.js';

/**
 * An adapter's stream with its end made certain: exactly one `finish`, last, and never a throw (core §5.1).
 * What an adapter yields after its `finish` is dropped. Returning early returns the adapter's stream.
 */
export async function* guardStream(
  stream: () => AsyncIterable<readonly StreamChunk[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamChunk[]> {
  let end: FinishReason;
  try {
    signal.throwIfAborted();
    for await (const batch of stream()) {
      const finish = batch.findIndex((chunk) => chunk.type === 'finish');
      if (finish < 0) {
        if (batch.length > 0) yield batch;
        continue;
      }
      yield finish === batch.length - 1 ? batch : batch.slice(0, finish + 1);
      return;
    }
    end = endOf({ code: 'STREAM_CLOSED', message: 'the LLM adapter ended its stream without a finish' }, signal);
  } catch (thrown) {
    end = endOf(failureOf(thrown), signal);
  }
  yield [{ type: 'finish', reason: end }];
}

function endOf(failure: LlmFailure, signal: AbortSignal): FinishReason {
  if (!signal.aborted && failure.code !== 'ABORTED') return { kind: 'error', failure };
  return { kind: 'aborted', failure: failure.code === 'ABORTED' ? failure : ABORTED };
}

/** The failure of whatever an adapter threw. */
function failureOf(thrown: unknown): LlmFailure {
  const code = thrown instanceof CodedError ? thrown.code : 'UNKNOWN';
  const message = thrown instanceof Error ? thrown.message : typeof thrown === 'string' ? thrown : '';
  return failureFacts(thrown) ?? { code, message: message === '' ? 'LLM adapter failed' : message };
}

const ABORTED: LlmFailure = { code: 'ABORTED', message: 'the model call was aborted' };
