import { ContainerModule } from 'inversify';
import { defineModule, Startable } from '../kernel/index.js';
import { ToolExecutor } from './executor.js';
import { SessionToolExecutor } from './session-tool-executor.js';
import { ToolCheck } from './tool-check.js';

/** Provides `ToolExecutor` in each session. Consumes the `Tool`s of runtime and session, and the `Session`. */
export const toolModule = defineModule({
  name: 'tools',
  runtime: new ContainerModule(({ bind }) => {
    bind(Startable).to(ToolCheck);
  }),
  session: new ContainerModule(({ bind }) => {
    bind(ToolExecutor).to(SessionToolExecutor);
  }),
});
