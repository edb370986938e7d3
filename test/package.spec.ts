import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageInfo } from '../src/base/index.js';

const run = promisify(execFile);

/** Runs code in a fresh Node inside this package, which can name itself. */
async function evaluate(code: string, type: 'module' | 'commonjs' = 'module'): Promise<unknown> {
  const { stdout } = await run(process.execPath, [`--input-type=${type}`, '-e', code], { cwd: packageInfo().root });
  return JSON.parse(stdout);
}

describe('the package', () => {
  const exported: readonly [string, readonly string[]][] = [
    ['dsh-inversify', ['createRuntime', 'loadProfile', 'CodedError']],
    [
      'dsh-inversify/client',
      [
        'DeepSeekHarness',
        'HarnessSession',
        'HarnessClient',
        'NotificationSubscription',
        'scrubbedParentEnv',
        'JsonRpcResponseError',
        'RequestTimeoutError',
        'SdkProtocolError',
        'TransportClosedError',
        'FrameTooLargeError',
      ],
    ],
    ['dsh-inversify/protocol', ['JsonRpcLineTransport', 'JsonRpcResponseError', 'createMemoryTransportPair']],
    ['dsh-inversify/plugin', ['definePlugin', 'Tool', 'ModelAdapter', 'NotificationListener', 'Startable']],
  ];
  for (const [name, members] of exported) {
    it(`exports ${name} to ES modules and, through require, to CommonJS`, async () => {
      const code = (load: string): string => `console.log(JSON.stringify(Object.keys(${load})))`;
      expect(await evaluate(code(`await import('${name}')`))).to.include.members([...members]);
      expect(await evaluate(code(`require('${name}')`), 'commonjs')).to.include.members([...members]);
    });
  }

  it('exports its manifest', async () => {
    const version = await evaluate(
      `console.log(JSON.stringify(require('dsh-inversify/package.json').version))`,
      'commonjs',
    );
    expect(version).to.equal(packageInfo().version);
  });

  it('runs the example of the README', async () => {
    const readme = await readFile(join(packageInfo().root, 'README.md'), 'utf8');
    const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? '';
    const home = await mkdtemp(join(tmpdir(), 'dsh-test-home-'));
    try {
      const env = { ...process.env, DSH_HOME: home };
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', example], {
        cwd: packageInfo().root,
        env,
      });
      expect(stdout)
        .to.match(/^completed /)
        .and.to.contain('What is in this directory?')
        .and.to.contain('package.json');
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it('loads the client without Inversify and reflect-metadata', async () => {
    const loaded = await evaluate(
      `await import('dsh-inversify/client');
       console.log(JSON.stringify({ reflect: typeof Reflect.metadata }));`,
    );
    expect(loaded).to.have.property('reflect', 'undefined');
  });
});
