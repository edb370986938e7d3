import { ContainerModule } from 'inversify';
import { SessionHold } from '../../agent/index.js';
import { defineModule } from '../../kernel/index.js';
import { Tool } from '../../tool/index.js';
import { BashTool } from './bash-tool.js';
import { LiveShells } from './live-shells.js';
import { PersistentShell } from './persistent-shell.js';
import { PipedShell } from './piped-shell.js';
import { ShellConfig } from './shell-config.js';
import { ShellMarker } from './shell-marker.js';

/** Provides `PersistentShell` and contributes the tool `bash`, both in each session, which a live shell holds. Consumes `Session`. */
export const shellModule = defineModule({
  name: 'persistent-bash',
  config: ShellConfig,
  runtime: new ContainerModule(({ bind }) => {
    bind(LiveShells).toSelf();
    bind(ShellMarker).toSelf();
  }),
  session: (config) =>
    new ContainerModule(({ bind }) => {
      bind(ShellConfig).toConstantValue(config);
      bind(PersistentShell).to(PipedShell);
      bind(SessionHold).toService(PersistentShell);
      bind(Tool).to(BashTool);
    }),
});
