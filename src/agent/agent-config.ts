import { IsInt, Max, Min } from 'class-validator';
import { MAX_TIMER_MS } from '../base/index.js';
import { Describe } from '../kernel/index.js';

/** Config of the module `agent`: when sessions that nobody uses are evicted (decision 40). */
export class AgentConfig {
  @Describe('A session is evicted after it was idle for so long, in ms.')
  @IsInt()
  @Min(1)
  @Max(MAX_TIMER_MS)
  readonly idleTimeoutMs: number = 1_800_000;

  @Describe('How many idle sessions stay live; of more, those are evicted that have been idle longest.')
  @IsInt()
  @Min(0)
  readonly maxIdleSessions: number = 1_000;
}
