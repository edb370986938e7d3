import type { AttachmentStore } from '../../../src/attachment/index.js';
import { Scope } from '../../../src/kernel/index.js';
import { ContributedAdapterRegistry } from '../../../src/model/contributed-adapter-registry.js';
import { DeepSeekAdapter } from '../../../src/model/deepseek/deepseek-adapter.js';
import { DeepSeekConfigDto } from '../../../src/model/deepseek/deepseek-config.js';
import type { ModelRequest } from '../../../src/model/index.js';
import type { CallConfig, StreamChunk } from '../../../src/protocol/index.js';
import { withoutProxies } from '../../support/clean-environment.js';
import { DeepSeekServer } from '../../support/deepseek-server.js';
import { modelRequest } from '../../support/model-request.js';

export const KEY = 'DSH_TEST_MODEL_KEY';
export const ROUTE: CallConfig = { provider: 'deepseek-official', model: 'deepseek-v4-flash' };

export type Call = (request?: Partial<ModelRequest>) => AsyncIterable<readonly StreamChunk[]>;

/** A server and a scope for one test, with a key in the environment. */
class DeepSeekFixture {
  readonly scope = Scope.root('test');
  readonly server: DeepSeekServer;
  readonly #restore = withoutProxies();

  private constructor(server: DeepSeekServer) {
    this.server = server;
  }

  static async create(): Promise<DeepSeekFixture> {
    process.env[KEY] = 'sk-test';
    return new DeepSeekFixture(await DeepSeekServer.start());
  }

  async dispose(): Promise<void> {
    await this.scope.close();
    await this.server.stop();
    delete process.env[KEY];
    this.#restore();
  }

  /** Calls of one adapter, which keeps its connections; the registry guards their streams. */
  caller(config: Partial<DeepSeekConfigDto> = {}, route: CallConfig = ROUTE, attachments?: AttachmentStore): Call {
    const dto = Object.assign(new DeepSeekConfigDto(), { apiKeyEnv: KEY, baseURL: this.server.url, ...config });
    const registry = new ContributedAdapterRegistry([new DeepSeekAdapter(dto, this.scope, attachments)], []);
    const call = registry.prepare(route);
    return (request = {}) => call.stream(modelRequest({ config: call.config, ...request }));
  }
}

/** A fixture for each test of the surrounding suite; what is given here belongs to the one that runs. */
export interface CurrentDeepSeek {
  readonly server: DeepSeekServer;
  readonly scope: Scope;
  readonly caller: (config?: Partial<DeepSeekConfigDto>, route?: CallConfig, attachments?: AttachmentStore) => Call;
  /** One call, of an adapter of its own. */
  readonly call: (config?: Partial<DeepSeekConfigDto>, request?: Partial<ModelRequest>) => ReturnType<Call>;
}

export function useDeepSeek(): CurrentDeepSeek {
  let fixture: DeepSeekFixture;
  beforeEach(async () => {
    fixture = await DeepSeekFixture.create();
  });
  afterEach(() => fixture.dispose());
  return {
    get server() {
      return fixture.server;
    },
    get scope() {
      return fixture.scope;
    },
    caller: (...parameters) => fixture.caller(...parameters),
    call: (config, request) => fixture.caller(config)(request),
  };
}
