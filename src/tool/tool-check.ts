import { inject, injectable, multiInject, optional } from 'inversify';
import type { Startable } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { warmArgumentRules } from './argument-rules.js';
import { Tool } from './tool.js';
import { indexTools } from './tool-index.js';

/** Fails the boot when the runtime's own tools are unusable together; a session's are judged as it opens. */
@injectable()
export class ToolCheck implements Startable {
  readonly name = 'tools';

  constructor(
    @multiInject(Tool) @optional() private readonly tools: readonly Tool[],
    @inject(Logger) private readonly logger: Logger,
  ) {}

  /** @throws what {@link indexTools} throws */
  start(): void {
    const names = [...indexTools(this.tools).keys()];
    this.logger.child('tools').debug('tools of the runtime; sessions may add their own', { names });
  }

  warm(): Promise<void> {
    return warmArgumentRules();
  }
}
