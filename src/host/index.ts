export { createRuntime, Runtime, type RuntimeOptions } from './runtime.js';
export { runStdioHost, type StdioHostOptions } from './stdio-host.js';
