import { injectable } from 'inversify';
import type { PromptSection, PromptVariables, SystemPrompt } from '../../agent/index.js';
import { fillTemplate } from './template.js';

/** The sections in their order, with a blank line between them (runtime §4.13). */
@injectable()
export class SectionedSystemPrompt implements SystemPrompt {
  /** Of sections with one name the first counts: a session's come before the runtime's. */
  assemble(sections: readonly PromptSection[], variables: PromptVariables): string | undefined {
    const byName = new Map<string, PromptSection>();
    for (const section of sections) if (!byName.has(section.name)) byName.set(section.name, section);
    const texts = [...byName.values()]
      .sort(inOrder)
      .map(({ name, text }) => fillTemplate(`prompt section ${JSON.stringify(name)}`, text, { ...variables }).trim())
      .filter((text) => text !== '');
    return texts.length === 0 ? undefined : texts.join('\n\n');
  }
}

function inOrder(a: PromptSection, b: PromptSection): number {
  return a.order - b.order || (a.name < b.name ? -1 : 1);
}
