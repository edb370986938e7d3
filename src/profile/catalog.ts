import { agentModule } from '../agent/agent.module.js';
import { agentLoopModule } from '../agent/agent-loop.module.js';
import { attachmentModule } from '../attachment/attachment.module.js';
import type { ModuleDefinition } from '../kernel/index.js';
import { deepseekModule } from '../model/deepseek/deepseek.module.js';
import { modelModule } from '../model/model.module.js';
import { offlineModule } from '../model/offline/offline.module.js';
import { openAiCompatibleModule } from '../model/openai-compatible/openai-compatible.module.js';
import { rpcModule } from '../rpc/rpc.module.js';
import { systemPromptModule } from '../services/system-prompt/system-prompt.module.js';
import { sessionPersistenceModule } from '../session/files/session-persistence.module.js';
import { memorySessionModule } from '../session/memory-session.module.js';
import { sessionModule } from '../session/session.module.js';
import { sessionTitleModule } from '../session/session-title.module.js';
import { toolModule } from '../tool/tool.module.js';
import { editorModule } from '../tools/editor/editor.module.js';
import { shellModule } from '../tools/shell/shell.module.js';

const SHIPPED: readonly ModuleDefinition[] = [
  rpcModule,
  modelModule,
  deepseekModule,
  openAiCompatibleModule,
  offlineModule,
  sessionModule,
  sessionTitleModule,
  sessionPersistenceModule,
  memorySessionModule,
  attachmentModule,
  agentModule,
  agentLoopModule,
  toolModule,
  systemPromptModule,
  shellModule,
  editorModule,
];

/** The modules that rows can name. */
export const catalog: ReadonlyMap<string, ModuleDefinition> = new Map(SHIPPED.map((module) => [module.name, module]));
