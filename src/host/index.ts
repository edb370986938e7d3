export { createRuntime, Runtime } from './runtime.js';
export type { RuntimeOptions } from './runtime-options.js';
export { runStdioHost, type StdioHostOptions } from './stdio-host.js';
