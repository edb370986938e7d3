import { expect } from 'chai';
import type { Tool } from '../../src/tool/index.js';
import { ToolFilter, ToolsConfig } from '../../src/tool/tool-filter.js';
import { RecordingLogger } from '../support/recording-logger.js';

function tools(...names: string[]): Tool[] {
  return names.map((name) => ({ name, description: name, parameters: {}, execute: () => name }));
}

describe('ToolFilter', () => {
  const cases: readonly (readonly [config: Partial<ToolsConfig>, permitted: string[], strangers: number])[] = [
    [{}, ['a', 'b', 'c'], 0],
    [{ allow: ['a', 'c'] }, ['a', 'c'], 0],
    [{ allow: [] }, [], 0],
    [{ deny: ['b'] }, ['a', 'c'], 0],
    [{ allow: ['a', 'b'], deny: ['b'] }, ['a'], 0],
    [{ allow: ['a', 'x'] }, ['a'], 1],
    [{ deny: ['y'] }, ['a', 'b', 'c'], 1],
  ];
  for (const [config, permitted, strangers] of cases) {
    it(`${JSON.stringify(config)} leaves ${permitted.join(', ') || 'nothing'}`, () => {
      const logger = new RecordingLogger();
      const filter = new ToolFilter(Object.assign(new ToolsConfig(), config), logger);
      for (let session = 0; session < 2; session += 1) {
        expect(filter.permitted(tools('a', 'b', 'c')).map(({ name }) => name)).to.deep.equal(permitted);
      }
      expect(logger.messages('warn')).to.have.lengthOf(strangers);
    });
  }
});
