import { createRuntime, type Runtime } from '../../src/host/index.js';
import { loadProfile, type Profile, type Row } from '../../src/profile/index.js';
import type { HarnessNotification, JsonRpcTransport } from '../../src/protocol/index.js';
import { eventually } from './processes.js';

/** `sdk-minimal` with sessions in memory, and rows changed or added by id. */
export async function memoryProfile(changes: readonly Row[] = []): Promise<Profile> {
  const { rows } = await loadProfile({ name: 'sdk-minimal', home: '/nowhere' });
  const memory = { id: 'session-persistence-jsonl', module: 'session-persistence-memory' };
  const changed = new Map([memory, ...changes].map((row) => [row.id, row]));
  const kept = rows.map((row) => changed.get(row.id) ?? row);
  const added = changes.filter(({ id }) => !rows.some((row) => row.id === id));
  return { name: 'test', rows: [...kept, ...added] };
}

/** A runtime in this process and its client. */
export class InProcess {
  readonly notifications: HarnessNotification[] = [];

  private constructor(
    readonly runtime: Runtime,
    readonly client: JsonRpcTransport,
  ) {
    client.onNotification((method, params) => {
      this.notifications.push({ method, params } as unknown as HarnessNotification);
    });
    client.start();
  }

  static async boot(profile: Profile, env: Record<string, string> = {}): Promise<InProcess> {
    const runtime = createRuntime({ profile, env });
    const host = new InProcess(runtime, runtime.connect());
    await runtime.start();
    return host;
  }

  async initialize(params: object = {}): Promise<unknown> {
    return this.client.request('initialize', { cwd: process.cwd(), provider: 'offline', model: 'demo', ...params });
  }

  prompt(sessionId: string, text: string): Promise<unknown> {
    return this.client.request('session/prompt', { sessionId, contentBlocks: [{ type: 'text', text }] });
  }

  async idle(sessionId: string): Promise<void> {
    await eventually(() =>
      this.notifications.some(({ method, params }) => {
        return method === 'session.status' && params.sessionId === sessionId && params.status === 'idle';
      }),
    );
  }
}
