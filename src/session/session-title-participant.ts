import { isEvent, type SessionEvent, type UserMessage } from '../protocol/index.js';
import { fallbackTitle } from './fallback-title.js';
import type { Session, SessionParticipant } from './session.js';
import type { SessionTitleConfig } from './session-title-config.js';

/** Titles a session, once, from the first text that a human wrote in it (core §4.8). Injected messages do not count. */
export class SessionTitleParticipant implements SessionParticipant {
  readonly name = 'session-title';

  constructor(private readonly config: SessionTitleConfig) {}

  committed(event: SessionEvent, session: Session): void {
    if (!isEvent(event, 'user/message') || event.data.source.kind !== 'user') return;
    if (session.title !== undefined) return;
    const title = fallbackTitle(textOf(event.data), this.config.fallbackMaxWords, this.config.fallbackMaxBytes);
    if (title === undefined) return;
    session.append('session/title', { title, messageSeqs: [event.seq], source: { kind: 'fallback' } });
  }
}

function textOf(message: UserMessage): string {
  return message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
}
