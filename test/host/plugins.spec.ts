import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageInfo } from '../../src/base/index.js';
import type { RunResult } from '../../src/client/index.js';
import { createRuntime, type Runtime } from '../../src/host/index.js';
import type { PatchOperation } from '../../src/profile/index.js';
import { useHome } from '../support/home.js';
import { memoryProfile } from '../support/in-process.js';
import { rejectionOf } from '../support/rejection-of.js';

const SHOUT = `
import { ContainerModule } from 'inversify';
import { definePlugin, Tool } from 'dsh-inversify/plugin';
export default definePlugin({
  name: 'shout',
  runtime: new ContainerModule(({ bind }) => {
    bind(Tool).toConstantValue({
      name: 'shout', description: 'Shouts.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      execute: async ({ text }) => text.toUpperCase(),
    });
  }),
});`;

/** A plugin around `body`, which has everything the package exports for plugins at hand. */
function plugin(body: string, spec = ''): string {
  return `
import { ContainerModule } from 'inversify';
import * as dsh from 'dsh-inversify/plugin';
export default dsh.definePlugin({ name: 'test', ${spec} runtime: (config) => new ContainerModule(({ bind, rebind }) => { ${body} }) });`;
}

/** As {@link plugin}, with what takes bindings away at hand. */
function unbinding(body: string): string {
  return plugin(body).replace('{ bind, rebind }', '{ bind, unbind, unbindAsync }');
}

describe('plugins', () => {
  const dir = useHome();
  const runtimes: Runtime[] = [];
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime.close().catch(() => undefined);
  });

  async function runtimeWith(patch: readonly PatchOperation[] | string): Promise<Runtime> {
    const runtime = createRuntime({ profile: await memoryProfile(), env: {}, patches: [patch] });
    runtimes.push(runtime);
    return runtime;
  }

  /** Inserts the plugin `name`, written to a file with this text. */
  function patched(name: string, text: string, row = ''): string {
    dir.write(`${name}.mjs`, text);
    return dir.write('patch.yml', `- insert: [{ id: ${name}, module: ./${name}.mjs${row} }]\n`);
  }

  async function run(runtime: Runtime, script: string, prompts = 1): Promise<RunResult[]> {
    const model = `script:${dir.write('script.yml', script)}`;
    const harness = runtime.harness({ provider: 'offline', model, cwd: dir.path });
    const results: RunResult[] = [];
    for (let n = 0; n < prompts; n += 1) results.push(await harness.run('go', { sessionId: 's' }));
    return results;
  }

  function toolTexts({ events }: RunResult): readonly unknown[] {
    return events.flatMap((event) => (event.type === 'tool/result' ? [event.data.message.content[0]?.content] : []));
  }

  describe('are found', () => {
    const calls = '- toolCalls: [{ name: shout, arguments: { text: hi } }]\n- text: done\n';
    const shouted = [[{ type: 'text', text: 'HI' }]];

    it('by a path that is seen from the patch, without a copy of anything', async () => {
      const [result] = await run(await runtimeWith(patched('shout', SHOUT)), calls);
      expect(result && toolTexts(result)).to.deep.equal(shouted);
    });

    it('by an absolute path, from code', async () => {
      const module = dir.write('shout.mjs', SHOUT);
      const [result] = await run(await runtimeWith([{ insert: [{ id: 'shout', module }] }]), calls);
      expect(result && toolTexts(result)).to.deep.equal(shouted);
    });

    const packages: readonly (readonly [what: string, manifest: object, file: string, text: string])[] = [
      ['by its exports', { type: 'module', exports: './main.js' }, 'main.js', SHOUT],
      ['for import only', { type: 'module', exports: { import: './main.js' } }, 'main.js', SHOUT],
      ['by its main file', { type: 'module', main: 'main.js' }, 'main.js', SHOUT],
      [
        'that is CommonJS made of an ES module',
        { main: 'main.js' },
        'main.js',
        `Object.defineProperty(exports, '__esModule', { value: true });
         const { ContainerModule } = require('inversify');
         const { definePlugin, Tool } = require('dsh-inversify/plugin');
         exports.default = definePlugin({ name: 'shout', runtime: new ContainerModule(({ bind }) => {
           bind(Tool).toConstantValue({ name: 'shout', description: 'x', parameters: { type: 'object' },
             execute: ({ text }) => text.toUpperCase() });
         }) });`,
      ],
    ];
    for (const [what, manifest, file, text] of packages) {
      it(`as a package, ${what}`, async () => {
        const root = 'node_modules/@me/dsh-plugin-shout';
        dir.write(
          `${root}/package.json`,
          JSON.stringify({ name: '@me/dsh-plugin-shout', version: '1.0.0', ...manifest }),
        );
        dir.write(`${root}/${file}`, text);
        // `require` asks no module hook: a CommonJS plugin brings what it requires.
        if (text.includes('require(')) copyOurs(join(dir.path, 'node_modules'));
        const patch = dir.write('deep/patch.yml', "- insert: [{ id: shout, module: '@me/dsh-plugin-shout' }]\n");
        const [result] = await run(await runtimeWith(patch), calls);
        expect(result && toolTexts(result)).to.deep.equal(shouted);
      });
    }

    it('with copies of inversify and of this package of their own', async () => {
      copyOurs(join(dir.path, 'node_modules'));
      const text = `
import { ContainerModule, inject, injectable } from 'inversify';
import { definePlugin, Logger, Tool } from 'dsh-inversify/plugin';
class Where {
  name = 'where'; description = 'x'; parameters = { type: 'object' };
  constructor(logger) { this.logger = logger; }
  execute() { this.logger.debug('asked'); return import.meta.resolve('inversify') + ' ' + import.meta.resolve('dsh-inversify/plugin'); }
}
injectable()(Where);
inject(Logger)(Where, undefined, 0);
export default definePlugin({ name: 'where', runtime: new ContainerModule(({ bind }) => { bind(Tool).to(Where); }) });`;
      const [result] = await run(
        await runtimeWith(patched('where', text)),
        '- toolCalls: [{ name: where, arguments: {} }]\n- text: done\n',
      );
      const said = JSON.stringify(result && toolTexts(result));
      expect(said.split(dir.path)).to.have.lengthOf(3);
    });
  });

  describe('fail the boot, naming row, file and cause', () => {
    /** `%` is the directory. */
    const broken: readonly (readonly [what: string, row: string, text: string, message: string])[] = [
      [
        'not there',
        'module: ./none.mjs',
        '',
        '%/patch.yml: row "x": there is no module "./none.mjs": %/none.mjs is no file',
      ],
      ['a directory', 'module: ./', '', '%/patch.yml: row "x": there is no module "./": % is no file'],
      [
        'no package',
        'module: dsh-plugin-none',
        '',
        '%/patch.yml: row "x": there is no module "dsh-plugin-none": it is not shipped, and no package of that name is installed in % or above; a file is named by a path with ./',
      ],
      [
        'without a default export',
        'module: ./x.mjs',
        'export const x = 1;',
        '%/patch.yml: row "x": %/x.mjs has no default export: export default definePlugin({ … })',
      ],
      [
        'no plugin',
        'module: ./x.mjs',
        'export default { name: "x" };',
        '%/patch.yml: row "x": the default export of %/x.mjs is no plugin: make it with definePlugin({ name, … })',
      ],
      [
        'throwing on import',
        'module: ./x.mjs',
        'throw new Error("broke");',
        '%/patch.yml: row "x": %/x.mjs cannot be imported: broke',
      ],
      [
        'not JavaScript',
        'module: ./x.mjs',
        'let a;\nlet = 1 2;',
        '%/patch.yml: row "x": %/x.mjs cannot be imported: line 2: Unexpected',
      ],
      [
        'importing what is not there',
        'module: ./x.mjs',
        'import "nowhere";',
        '%/patch.yml: row "x": %/x.mjs cannot be imported: Cannot find package \'nowhere\'',
      ],
      [
        'with a config that is neither a class nor a schema',
        'module: ./x.mjs',
        plugin('', `config: { word: 'string' },`),
        `%/patch.yml: row "x": %/x.mjs cannot be imported: the config of "test" must be a class, or a JSON Schema with type: 'object'`,
      ],
      [
        'given a key that its schema does not have',
        'module: ./x.mjs, config: { wrd: 1 }',
        plugin(
          '',
          `config: { type: 'object', properties: { word: { type: 'string' } }, additionalProperties: false },`,
        ),
        '%/patch.yml: row "x": wrd: is unknown; allowed: word',
      ],
      [
        'given a value that its schema refuses',
        'module: ./x.mjs, config: { level: loud }',
        plugin('', `config: { type: 'object', properties: { level: { enum: ['low', 'high'] } } },`),
        '%/patch.yml: row "x": level: must be equal to one of the allowed values: "low", "high"',
      ],
      [
        'given a config although it takes none',
        'module: ./x.mjs, config: { a: 1 }',
        plugin(''),
        '%/patch.yml: row "x": a: is unknown: the module takes no config',
      ],
      [
        'throwing while it binds',
        'module: ./x.mjs',
        plugin('throw new Error("broke");'),
        'row "x" cannot be loaded: broke',
      ],
      [
        'throwing in a constructor',
        'module: ./x.mjs',
        plugin('bind(dsh.Startable).toDynamicValue(() => { throw new Error("broke"); });'),
        'row "x": Startable cannot be built: broke',
      ],
      [
        'throwing in the constructor of what others are built of, which is told once',
        'module: ./x.mjs',
        plugin('bind(dsh.ModelAdapter).toDynamicValue(() => { throw new Error("broke"); });'),
        'cannot be built: broke',
      ],
      [
        'throwing when started',
        'module: ./x.mjs',
        plugin(
          'bind(dsh.Startable).toConstantValue({ name: "part", start: async () => { throw new Error("broke"); } });',
        ),
        'row "x": part failed to start: broke',
      ],
      [
        'wanting a service that nobody binds',
        'module: ./x.mjs',
        plugin('bind(dsh.Tool).toResolvedValue(() => ({}), [dsh.serviceId("Weather")]);'),
        'nothing provides Weather, which a Tool of row "tool-str-replace-editor" or row "x" needs',
      ],
      [
        'binding what is not exported',
        'module: ./x.mjs',
        plugin('bind(dsh.Tol).toConstantValue({});'),
        'row "x" cannot be loaded: it binds undefined: nothing of that name is exported where the token is from',
      ],
      [
        'binding a service a second time',
        'module: ./x.mjs',
        plugin('bind(dsh.AdapterRegistry).toConstantValue({});'),
        'AdapterRegistry is bound by row "llm" and row "x": take one of them out, or let it rebind the service',
      ],
      [
        'unbinding what others need',
        'module: ./x.mjs',
        unbinding('unbind(dsh.AdapterRegistry);'),
        'needs: row "x" unbinds it',
      ],
      [
        'with a part that is no container module',
        'module: ./x.mjs',
        `import { definePlugin } from 'dsh-inversify/plugin'; export default definePlugin({ name: 'x', runtime: () => {} });`,
        '%/patch.yml: row "x": its runtime part is no ContainerModule, nor a function that returns one',
      ],
      [
        'binding a tool of a name that is taken',
        'module: ./x.mjs',
        plugin(
          'for (const n of [1, 2]) bind(dsh.Tool).toConstantValue({ name: "same", description: "x", parameters: {}, execute() {} });',
        ),
        'two tools have the name "same": disable or rename one of them',
      ],
    ];
    for (const [what, row, text, message] of broken) {
      it(what, async () => {
        dir.write('x.mjs', text);
        const runtime = await runtimeWith(dir.write('patch.yml', `- insert: [{ id: x, ${row} }]\n`));
        const failure = await rejectionOf(runtime.start());
        expect(failure.message.split(message.replaceAll('%', dir.path))).to.have.lengthOf(2);
        await runtime.closed;
        expect(runtime.pending).to.deep.equal([]);
      });
    }

    it('all of them at once', async () => {
      const patch = dir.write('patch.yml', '- insert: [{ id: x, module: ./x.mjs }, { id: y, module: ./y.mjs }]\n');
      const { message } = await rejectionOf((await runtimeWith(patch)).start());
      expect(message).to.match(/row "x": there is no module.*; .*row "y": there is no module/);
      dir.write('x.mjs', plugin('throw new Error("one");'));
      dir.write('y.mjs', plugin('throw new Error("two");'));
      const loaded = await rejectionOf((await runtimeWith(patch)).start());
      expect(loaded.message).to.equal('row "x" cannot be loaded: one; row "y" cannot be loaded: two');
    });

    it('and undo what was active', async () => {
      const text = `${plugin(`
        bind(dsh.Startable).toResolvedValue((scope) => { scope.defer('part', () => { globalThis.undone += 1; }); return { name: 'part' }; }, [dsh.CurrentScope]);
        bind(dsh.Startable).toConstantValue({ name: 'broken', start() { throw new Error('broke'); } });`)}
globalThis.undone = 0;`;
      const runtime = await runtimeWith(patched('x', text));
      await rejectionOf(runtime.start());
      expect((globalThis as { undone?: number }).undone).to.equal(1);
    });
  });

  describe('that are optional', () => {
    const failures: readonly (readonly [what: string, text: string])[] = [
      ['are not there', ''],
      ['throw on import', 'throw new Error("broke");'],
      [
        'throw while they bind, half way',
        plugin('bind(dsh.AdapterRegistry).toConstantValue({}); throw new Error("broke");'),
      ],
      ['throw in a constructor', plugin('bind(dsh.Startable).toDynamicValue(() => { throw new Error("broke"); });')],
      [
        'throw in the constructor of what others are built of',
        plugin('bind(dsh.ModelAdapter).toDynamicValue(() => { throw new Error("broke"); });'),
      ],
      [
        'throw when started',
        plugin('bind(dsh.Startable).toConstantValue({ name: "part", start() { throw new Error("broke"); } });'),
      ],
      ['miss a service', plugin('bind(dsh.Tool).toResolvedValue(() => ({}), [dsh.serviceId("Weather")]);')],
      ['bind a service a second time', plugin('bind(dsh.AdapterRegistry).toConstantValue({});')],
    ];
    for (const [what, text] of failures) {
      it(`are left out when they ${what}`, async () => {
        const patch = patched('x', text, ', optional: true');
        const [result] = await run(await runtimeWith(patch), '- text: done\n');
        expect(result?.finalResponse).to.equal('done');
      });
    }

    it('do not hide what others do wrong', async () => {
      dir.write('x.mjs', plugin('throw new Error("one");'));
      dir.write('y.mjs', plugin('throw new Error("two");'));
      const patch = '- insert: [{ id: x, module: ./x.mjs, optional: true }, { id: y, module: ./y.mjs }]\n';
      const { message } = await rejectionOf((await runtimeWith(dir.write('patch.yml', patch))).start());
      expect(message).to.contain('row "y" cannot be loaded: two');
    });

    it('are there when nothing is wrong with them', async () => {
      const patch = patched('shout', SHOUT, ', optional: true');
      const calls = '- toolCalls: [{ name: shout, arguments: { text: hi } }]\n- text: done\n';
      const [result] = await run(await runtimeWith(patch), calls);
      expect(result && toolTexts(result)).to.deep.equal([[{ type: 'text', text: 'HI' }]]);
    });
  });

  describe('that throw', () => {
    const call = '- toolCalls: [{ name: shout, arguments: { text: hi } }]\n';
    const tool =
      'bind(dsh.Tool).toConstantValue({ name: "shout", description: "x", parameters: { type: "object" }, execute: () => "ok" });';
    const once =
      'let done = false; const fail = () => { if (done) return undefined; done = true; throw new Error("broke"); };';
    const cases: readonly (readonly [where: string, body: string, outcomes: readonly string[]])[] = [
      [
        'a tool',
        'bind(dsh.Tool).toConstantValue({ name: "shout", description: "x", parameters: {}, execute() { throw new Error("broke"); } });',
        ['completed', 'completed'],
      ],
      [
        'a tool, later',
        'bind(dsh.Tool).toConstantValue({ name: "shout", description: "x", parameters: {}, execute: async () => { await null; throw new Error("broke"); } });',
        ['completed', 'completed'],
      ],
      [
        'isConcurrencySafe',
        'bind(dsh.Tool).toConstantValue({ name: "shout", description: "x", parameters: {}, execute: () => "ok", isConcurrencySafe() { throw new Error("broke"); } });',
        ['completed', 'completed'],
      ],
      [
        'render',
        'bind(dsh.Tool).toConstantValue({ name: "shout", description: "x", parameters: {}, execute: () => "ok", render() { throw new Error("broke"); } });',
        ['completed', 'completed'],
      ],
      [
        'BeforeStep',
        `${tool} ${once} bind(dsh.BeforeStep).toConstantValue({ name: "x", beforeStep: fail });`,
        ['error', 'completed'],
      ],
      [
        'BeforeToolCall',
        `${tool} ${once} bind(dsh.BeforeToolCall).toConstantValue({ name: "x", beforeToolCall: fail });`,
        ['error', 'completed'],
      ],
      [
        'AfterToolCall',
        `${tool} ${once} bind(dsh.AfterToolCall).toConstantValue({ name: "x", afterToolCall: fail });`,
        ['error', 'completed'],
      ],
      [
        'TurnStopping',
        `${tool} ${once} bind(dsh.TurnStopping).toConstantValue({ name: "x", turnStopping: fail });`,
        ['error', 'completed'],
      ],
      [
        'RequestMiddleware',
        `${tool} ${once} bind(dsh.RequestMiddleware).toConstantValue({ name: "x", configure: fail });`,
        ['error', 'completed'],
      ],
      [
        'a notification listener',
        `${tool} bind(dsh.NotificationListener).toConstantValue({ sessionEvent() { throw new Error("broke"); }, sessionStatus() { throw new Error("broke"); } });`,
        ['completed', 'completed'],
      ],
      [
        'a participant',
        `${tool} bind(dsh.SessionParticipant).toConstantValue({ name: "x", committed() { throw new Error("broke"); } });`,
        ['completed', 'completed'],
      ],
      [
        'its warm-up and its stop',
        `${tool} bind(dsh.Startable).toConstantValue({ name: "x", warm() { throw new Error("broke"); }, stop() { throw new Error("broke"); } });`,
        ['completed', 'completed'],
      ],
    ];
    for (const [where, body, outcomes] of cases) {
      it(`in ${where} are contained`, async () => {
        const runtime = await runtimeWith(patched('x', plugin(body)));
        const results = await run(runtime, `${call}- text: done\n${call}- text: done\n`, outcomes.length);
        expect(results.map(({ outcome }) => outcome)).to.deep.equal(outcomes);
        await runtime.close();
      });
    }

    it('in their teardown are reported, and all else is undone', async () => {
      const body = `bind(dsh.Startable).toResolvedValue((scope) => { scope.defer('theirs', () => { throw new Error('broke'); }); return { name: 'x' }; }, [dsh.CurrentScope]);`;
      const runtime = await runtimeWith(patched('x', plugin(body)));
      await run(runtime, '- text: done\n');
      expect((await rejectionOf(runtime.close())).message).to.contain('theirs');
      expect(runtime.pending).to.deep.equal([]);
    });
  });

  const theirs = "(dsh.SystemPrompt).toConstantValue({ assemble: () => 'You are replaced.' });";
  const replacing: readonly (readonly [how: string, text: string])[] = [
    ['at once', plugin(`rebind${theirs}`)],
    ['in two steps', unbinding(`unbind(dsh.SystemPrompt); bind${theirs}`)],
    ['in two steps, waiting', unbinding(`return unbindAsync(dsh.SystemPrompt).then(() => { bind${theirs} });`)],
  ];
  for (const [how, text] of replacing) {
    it(`may replace a service, ${how}`, async () => {
      const [result] = await run(await runtimeWith(patched('x', text)), '- text: done\n');
      const header = result?.events.find(({ type }) => type === 'request/header');
      expect(JSON.stringify(header)).to.contain('You are replaced.');
    });
  }

  it('answer JSON-RPC methods of their own', async () => {
    const body = `class Params {}
      bind(dsh.MethodHandler).toConstantValue({ method: 'weather/now', params: Params, handle: () => ({ sky: 'blue' }) });`;
    const runtime = await runtimeWith(patched('x', plugin(body)));
    const client = runtime.connect();
    client.start();
    expect(await client.request('weather/now')).to.deep.equal({ sky: 'blue' });
  });

  it('have a part in each session, which ends with it', async () => {
    const text = `
import { ContainerModule } from 'inversify';
import * as dsh from 'dsh-inversify/plugin';
globalThis.sessionParts = [];
export default dsh.definePlugin({ name: 'test', session: new ContainerModule(({ bind }) => {
  bind(dsh.SessionParticipant).toResolvedValue((scope) => {
    globalThis.sessionParts.push('open ' + scope.name);
    scope.defer('part', () => { globalThis.sessionParts.push('closed ' + scope.name); });
    return { name: 'x', committed() {} };
  }, [dsh.CurrentScope]);
}) });`;
    const runtime = await runtimeWith(patched('x', text));
    await run(runtime, '- text: done\n');
    await runtime.close();
    expect((globalThis as { sessionParts?: unknown }).sessionParts).to.deep.equal(['open s', 'closed s']);
  });

  /** The package as it is built, and Inversify, for those who bring their own. */
  function copyOurs(modules: string): void {
    const { root } = packageInfo();
    mkdirSync(join(modules, 'dsh-inversify'), { recursive: true });
    for (const part of ['dist', 'package.json']) {
      cpSync(join(root, part), join(modules, 'dsh-inversify', part), { recursive: true });
    }
    for (const name of ['class-validator', 'class-transformer']) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    for (const name of ['inversify', '@inversifyjs', 'reflect-metadata']) {
      cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true });
    }
  }
});
