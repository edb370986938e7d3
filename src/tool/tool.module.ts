import { ContainerModule } from 'inversify';
import { defineModule, Startable } from '../kernel/index.js';
import { ToolExecutor } from './executor.js';
import { SessionToolExecutor } from './session-tool-executor.js';
import { ToolCheck } from './tool-check.js';
import { ToolFilter, ToolsConfig } from './tool-filter.js';

/** Provides `ToolExecutor` in each session. Consumes the `Tool`s of runtime and session, and the `Session`. */
export const toolModule = defineModule({
  name: 'tools',
  config: ToolsConfig,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(Startable).to(ToolCheck);
      bind(ToolsConfig).toConstantValue(config);
      bind(ToolFilter).toSelf();
    }),
  session: new ContainerModule(({ bind }) => {
    bind(ToolExecutor).to(SessionToolExecutor);
  }),
});
