import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { CodedError } from '../../src/base/index.js';
import { Scope, Startable } from '../../src/kernel/index.js';
import { Logger } from '../../src/logging/index.js';
import { Tool } from '../../src/tool/index.js';
import { toolModule } from '../../src/tool/tool.module.js';
import { silentLogger } from '../support/tool-scope.js';

async function boot(...tools: readonly Partial<Tool>[]): Promise<void> {
  const scope = Scope.root('runtime');
  scope.provide(Logger, silentLogger);
  const { runtime } = await toolModule.configure(undefined);
  if (runtime !== undefined) await scope.load(runtime);
  const bindAll = new ContainerModule(({ bind }) => {
    for (const tool of tools) bind(Tool).toConstantValue({ description: '', parameters: {}, ...tool } as Tool);
  });
  await scope.load(bindAll);
  for (const startable of scope.all(Startable)) await startable.start?.();
}

describe('tools module at boot', () => {
  it('accepts no tools, and tools of different names', async () => {
    await boot();
    await boot({ name: 'a' }, { name: 'b', timeoutMs: 0.5 });
  });

  const refused: readonly (readonly [string, readonly Partial<Tool>[], string, string])[] = [
    ['two tools of one name', [{ name: 'a' }, { name: 'b' }, { name: 'a' }], 'DUPLICATE_TOOL', 'the name "a"'],
    ['a tool without a name', [{ name: ' ' }], 'INVALID_TOOL', 'has no name'],
    ['a timeout of 0', [{ name: 'a', timeoutMs: 0 }], 'INVALID_TOOL', 'tool "a" must have a positive number'],
    ['an infinite timeout', [{ name: 'a', timeoutMs: Number.POSITIVE_INFINITY }], 'INVALID_TOOL', 'not Infinity'],
  ];
  for (const [title, tools, code, message] of refused) {
    it(`fails for ${title}`, async () => {
      const thrown = await boot(...tools).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(CodedError).with.property('code', code);
      expect(thrown).to.have.property('message').that.contains(message);
    });
  }
});
