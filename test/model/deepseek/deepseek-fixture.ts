import { Scope } from '../../../src/kernel/index.js';
import { ContributedAdapterRegistry } from '../../../src/model/contributed-adapter-registry.js';
import { DeepSeekAdapter } from '../../../src/model/deepseek/deepseek-adapter.js';
import { DeepSeekConfigDto } from '../../../src/model/deepseek/deepseek-config.js';
import type { ModelRequest } from '../../../src/model/index.js';
import type { CallConfig, StreamChunk } from '../../../src/protocol/index.js';
import { DeepSeekServer } from '../../support/deepseek-server.js';
import { modelRequest } from '../../support/model-request.js';

export const KEY = 'DSH_TEST_MODEL_KEY';
export const ROUTE: CallConfig = { provider: 'deepseek-official', model: 'deepseek-v4-flash' };

export type Call = (request?: Partial<ModelRequest>) => AsyncIterable<readonly StreamChunk[]>;

/** A server and a scope for one test, with a key in the environment. */
export class DeepSeekFixture {
  readonly scope = Scope.root('test');
  readonly server: DeepSeekServer;

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
    delete process.env.DEEPSEEK_BASE_URL;
  }

  /** Calls of one adapter, which keeps its connections; the registry guards their streams. */
  caller(config: Partial<DeepSeekConfigDto> = {}): Call {
    const dto = Object.assign(new DeepSeekConfigDto(), { apiKeyEnv: KEY, baseURL: this.server.url, ...config });
    const registry = new ContributedAdapterRegistry([new DeepSeekAdapter(dto, this.scope)], []);
    const call = registry.prepare(ROUTE);
    return (request = {}) => call.stream(modelRequest({ config: call.config, ...request }));
  }
}
