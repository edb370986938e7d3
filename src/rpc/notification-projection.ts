import { inject, injectable } from 'inversify';
import type { JsonRpcTransport, SdkRunStatus, SessionEvent } from '../protocol/index.js';
import type { NotificationListener, Session } from '../session/index.js';
import { ServerTransport } from './channel.js';

/** Puts every event and status of every session on the wire (core §1.6); the event's text is spliced in as it is. */
@injectable()
export class NotificationProjection implements NotificationListener {
  readonly #prefixes = new WeakMap<Session, string>();

  constructor(@inject(ServerTransport) private readonly transport: JsonRpcTransport) {}

  sessionEvent(session: Session, _event: SessionEvent, json: string): void | Promise<void> {
    let prefix = this.#prefixes.get(session);
    if (prefix === undefined) {
      prefix = `{"sessionId":${JSON.stringify(session.id)},"event":`;
      this.#prefixes.set(session, prefix);
    }
    return this.transport.notifyEncoded('session.event', prefix, json, '}');
  }

  sessionStatus(sessionId: string, status: SdkRunStatus): void {
    void this.transport.notify('session.status', { sessionId, status });
  }
}
