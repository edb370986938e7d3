import { ContainerModule } from 'inversify';
import { Scope } from '../../src/kernel/index.js';
import { Logger } from '../../src/logging/index.js';
import type {
  AssistantMessage,
  ContentBlock,
  SessionEvent,
  ToolResultMessage,
  UserMessage,
} from '../../src/protocol/index.js';
import {
  NotificationListener,
  Notifications,
  type Session,
  SessionRepository,
  SessionStore,
} from '../../src/session/index.js';
import { sessionModule } from '../../src/session/session.module.js';
import { FakeRepository } from './fake-repository.js';
import { readLog } from './read-log.js';
import { RecordingLogger } from './recording-logger.js';

export interface SessionWorldOptions<R extends SessionRepository> {
  readonly repository: R;
  readonly listeners?: readonly NotificationListener[];
}

/** The real session layer over a store that the test chooses. */
export class SessionWorld<R extends SessionRepository = FakeRepository> {
  readonly scope = Scope.root('test');
  readonly logger = new RecordingLogger();

  private constructor(readonly repository: R) {}

  static withFake(listeners: readonly NotificationListener[] = []): Promise<SessionWorld> {
    return SessionWorld.over({ repository: new FakeRepository(), listeners });
  }

  static async over<R extends SessionRepository>({
    repository,
    listeners = [],
  }: SessionWorldOptions<R>): Promise<SessionWorld<R>> {
    const world = new SessionWorld(repository);
    world.scope.provide(Logger, world.logger);
    const { runtime } = await sessionModule.configure(undefined);
    if (runtime !== undefined) await world.scope.load(runtime);
    await world.scope.load(
      new ContainerModule(({ bind }) => {
        bind(SessionRepository).toConstantValue(repository);
        for (const listener of listeners) bind(NotificationListener).toConstantValue(listener);
      }),
    );
    world.scope.resolveAll();
    return world;
  }

  get store(): SessionStore {
    return this.scope.get(SessionStore);
  }
  get notifications(): Notifications {
    return this.scope.get(Notifications);
  }

  create(id = 's'): Promise<Session> {
    return this.store.open({ id, cwd: '/ws' });
  }

  /** None while nothing is stored. */
  async storedEvents(id = 's'): Promise<readonly SessionEvent[]> {
    if ((await this.repository.find(id)) === undefined) return [];
    return (await readLog(this.repository, id)).events;
  }
}

/** Appends an event that means nothing to anybody. */
export function tick(session: Session): SessionEvent {
  return session.append('session/end-seed', {});
}

export function human(text: string): UserMessage {
  return { id: `u-${text}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } };
}

export function said(...content: readonly ContentBlock[]): AssistantMessage {
  return { id: 'a', role: 'assistant', content, source: { kind: 'model', provider: 'p', model: 'm' } };
}

export function resultOf(callId: string, text: string): ToolResultMessage {
  const block = { type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text }] } as const;
  return { id: `r-${callId}`, role: 'user', content: [block], source: { kind: 'tool', callId } };
}

/** A turn of the event loop later: what a tick owes has been written by then. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What a session's events come to, of a live one or of a fold. */
export type SessionState = Pick<
  Session,
  'nextSeq' | 'lastTurn' | 'messages' | 'requestHeader' | 'requestContext' | 'title' | 'pendingInbox'
>;

/** The state by value, to be compared. */
export function stateOf(session: SessionState): object {
  const { nextSeq, lastTurn, requestHeader, requestContext, title, pendingInbox } = session;
  return { nextSeq, lastTurn, requestHeader, requestContext, title, pendingInbox, messages: session.messages() };
}
