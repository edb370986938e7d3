export { InvalidArgsError } from './errors.js';
export { type ToolCallRequest, ToolExecutor, type ToolOutcome } from './executor.js';
export { Tool, type ToolCallContext } from './tool.js';
