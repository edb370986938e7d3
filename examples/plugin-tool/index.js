import { definePlugin, Tool } from 'dsh-inversify/plugin';
import { ContainerModule } from 'inversify';

/** A tool with config: the row lists the terms, the model can look them up. */
export default definePlugin({
  name: 'glossary',
  config: {
    type: 'object',
    properties: {
      terms: { type: 'object', additionalProperties: { type: 'string' }, description: 'what each term means' },
      ignoreCase: { type: 'boolean', default: true },
    },
    required: ['terms'],
    additionalProperties: false,
  },
  runtime: ({ terms, ignoreCase }) =>
    new ContainerModule(({ bind }) => {
      const key = (term) => (ignoreCase ? term.toLowerCase() : term);
      const known = new Map(Object.entries(terms).map(([term, meaning]) => [key(term), meaning]));
      bind(Tool).toConstantValue({
        name: 'glossary',
        description: `Explains a term of this project. Known: ${Object.keys(terms).join(', ')}.`,
        parameters: {
          type: 'object',
          properties: { term: { type: 'string', description: 'the term to explain' } },
          required: ['term'],
          additionalProperties: false,
        },
        // Nothing is changed by it, so calls may run beside others.
        isConcurrencySafe: () => true,
        execute({ term }, { logger }) {
          const meaning = known.get(key(term));
          logger.debug('looked up', { term, found: meaning !== undefined });
          // A throw is what the model reads as an error; the turn goes on.
          if (meaning === undefined) throw new Error(`no such term: ${term}`);
          return { term, meaning };
        },
      });
    }),
});
