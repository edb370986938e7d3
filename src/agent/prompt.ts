import { contributionPoint, serviceId } from '../kernel/index.js';

/** What a prompt template may name as `{{provider}}`, `{{model}}`, `{{cwd}}`. */
export interface PromptVariables {
  readonly provider: string;
  readonly model: string;
  readonly cwd: string;
}

/** Contribution point, runtime or session scope: one part of the system prompt (runtime §4.13). */
export interface PromptSection {
  readonly name: string;
  /** Sections stand in ascending order, equal orders by name. The persona has 0. */
  readonly order: number;
  /** A template; an unknown or valueless `{{name}}` fails the turn. Blank text leaves the section out. */
  readonly text: string;
}
/** Collected once a session, when its agent is made: the session's sections, then the runtime's. */
export const PromptSection = contributionPoint<PromptSection>('PromptSection');

/** Assembles the system prompt of a session. */
export interface SystemPrompt {
  /** Undefined when every section is blank. */
  assemble(sections: readonly PromptSection[], variables: PromptVariables): string | undefined;
}
/** Runtime scope, optional: without it requests carry no system prompt. */
export const SystemPrompt = serviceId<SystemPrompt>('SystemPrompt');
