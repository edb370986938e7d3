import type { SessionEvent } from '../../src/protocol/index.js';
import type { LogReading, SessionRepository } from '../../src/session/index.js';

/** A stored log with its good events. */
export async function readLog(
  repository: SessionRepository,
  sessionId: string,
): Promise<LogReading & { readonly events: readonly SessionEvent[] }> {
  const events: SessionEvent[] = [];
  const reading = await repository.read(sessionId, (event) => events.push(event));
  return { ...reading, events };
}
