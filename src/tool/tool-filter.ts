import { IsArray, IsOptional, IsString } from 'class-validator';
import { inject, injectable } from 'inversify';
import { Describe } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import type { Tool } from './tool.js';

/** Config of the tools' row: which tools the model is given. */
export class ToolsConfig {
  @Describe('Names of the tools that may be used; by default all.')
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  readonly allow?: readonly string[];

  @Describe('Names of tools that may not be used, whatever `allow` says.')
  @IsArray()
  @IsString({ each: true })
  readonly deny: readonly string[] = [];
}

/** Which of a session's tools its model is given. One for the runtime; names that no tool has are told once. */
@injectable()
export class ToolFilter {
  readonly #told = new Set<string>();
  readonly #logger: Logger;

  constructor(
    @inject(ToolsConfig) private readonly config: ToolsConfig,
    @inject(Logger) logger: Logger,
  ) {
    this.#logger = logger.child('tools');
  }

  /** Those that may be used, in their order. */
  permitted(tools: readonly Tool[]): readonly Tool[] {
    const { allow, deny } = this.config;
    this.#tellStrangers(tools);
    return tools.filter(({ name }) => (allow === undefined || allow.includes(name)) && !deny.includes(name));
  }

  #tellStrangers(tools: readonly Tool[]): void {
    const { allow = [], deny } = this.config;
    const known = tools.map(({ name }) => name);
    const strangers = [...allow, ...deny].filter((name) => !known.includes(name) && !this.#told.has(name));
    if (strangers.length === 0) return;
    for (const name of strangers) this.#told.add(name);
    this.#logger.warn('the row of the tools names some that there are not', {
      names: strangers,
      known: [...known].sort(),
    });
  }
}
