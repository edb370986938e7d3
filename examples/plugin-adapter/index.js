import { setImmediate } from 'node:timers/promises';
import { definePlugin, LlmError, ModelAdapter } from 'dsh-inversify/plugin';
import { ContainerModule } from 'inversify';

/** A provider whose one model says the prompt again, word by word. */
class ParrotAdapter {
  providers = [{ id: 'parrot', name: 'Parrot', catalog: 'closed' }];

  models() {
    return [{ id: 'grey', name: 'Grey parrot', inputModalities: ['text'], reasoningEfforts: [] }];
  }

  // Judges the route and fills in defaults. Asks nobody: `initialize` waits for it.
  prepare(config) {
    if (config.model !== 'grey') {
      throw new LlmError({ code: 'UNKNOWN_MODEL', message: `no model "${config.model}" here: there is "grey"` });
    }
    return { config, stream: (request) => this.#speak(request) };
  }

  // Arrays of chunks, as they arrive: blocks that open, grow and close, then usage, and one finish at the end.
  async *#speak({ messages, signal }) {
    const text = lastPrompt(messages);
    yield [{ type: 'block-start', index: 0, blockType: 'text' }];
    const words = text.match(/\S+\s*/g) ?? [];
    for (const word of words) {
      await setImmediate(undefined, { signal });
      yield [{ type: 'text-delta', index: 0, text: word }];
    }
    yield [
      { type: 'block-end', index: 0, block: { type: 'text', text: words.join('') } },
      { type: 'usage', usage: { inputTokens: words.length, outputTokens: words.length } },
      { type: 'finish', reason: { kind: 'stop' } },
    ];
  }
}

function lastPrompt(messages) {
  const prompt = messages.findLast(({ source }) => source.kind === 'user');
  const texts = prompt?.content.filter(({ type }) => type === 'text').map(({ text }) => text) ?? [];
  return texts.join('\n');
}

export default definePlugin({
  name: 'parrot',
  runtime: new ContainerModule(({ bind }) => {
    bind(ModelAdapter).toConstantValue(new ParrotAdapter());
  }),
});
