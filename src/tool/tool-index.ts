import { CodedError } from '../base/index.js';
import { InvalidToolError } from './errors.js';
import type { Tool } from './tool.js';

/**
 * The tools by name, in lexicographic name order.
 *
 * @throws CodedError `DUPLICATE_TOOL` two tools share a name
 * @throws InvalidToolError a tool without a name, or with a `timeoutMs` that is no positive number
 */
export function indexTools(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const index = new Map<string, Tool>();
  for (const tool of [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name, timeoutMs } = tool;
    if (typeof name !== 'string' || name.trim() === '') throw new InvalidToolError(String(name), 'has no name');
    if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
      throw new InvalidToolError(name, `must have a positive number of milliseconds as timeoutMs, not ${timeoutMs}`);
    }
    if (index.has(name)) {
      throw new CodedError('DUPLICATE_TOOL', `two tools have the name "${name}": disable or rename one of them`);
    }
    index.set(name, tool);
  }
  return index;
}
