import { IsInt, Min } from 'class-validator';
import { Describe } from '../kernel/index.js';

/** Config of the module `agent-loop`. */
export class AgentLoopConfig {
  @Describe('How many tool calls that declare themselves safe run at once; 1 runs them one after the other.')
  @IsInt()
  @Min(1)
  readonly maxParallelToolCalls: number = 10;
}
