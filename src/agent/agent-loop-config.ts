import { IsInt, Min } from 'class-validator';

/** Config of the module `agent-loop`. */
export class AgentLoopConfig {
  /** How many tool calls that declare themselves safe run at once; 1 runs them one after the other (core §3.5). */
  @IsInt()
  @Min(1)
  readonly maxParallelToolCalls: number = 10;
}
