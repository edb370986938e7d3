import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IsString } from 'class-validator';
import * as fc from 'fast-check';
import { ContainerModule } from 'inversify';
import { escapeReferences } from '../../src/base/index.js';
import { defineModule } from '../../src/kernel/index.js';
import {
  compose,
  interpolate,
  loadProfile,
  type Profile,
  ProfileModules,
  resolveHome,
  shippedProfiles,
} from '../../src/profile/index.js';
import { runs } from '../support/runs.js';

const at = { env: { NAME: 'value', EMPTY: '', NUMBER: '42', FLAG: 'true' }, home: '/home/dsh' };

describe('interpolate', () => {
  const cases: readonly [string, unknown][] = [
    ['plain', 'plain'],
    ['${env:NAME}', 'value'],
    ['a ${env:NAME} b ${env:NUMBER}', 'a value b 42'],
    ['${env:NUMBER}', 42],
    ['${env:FLAG}', true],
    ['${env:MISSING:-1.5e3}', 1500],
    ['${env:MISSING:-007}', '007'],
    ['${env:EMPTY:-x}', 'x'],
    ['${env:MISSING:-https://host:1/p}', 'https://host:1/p'],
    ['${home:sessions}', '/home/dsh/sessions'],
    ['${other:x}', '${other:x}'],
    ['$${env:NAME}', '${env:NAME}'],
    ['a $${env:NAME} ${env:NAME}', 'a ${env:NAME} value'],
    ['$$${env:NAME}', '$${env:NAME}'],
    ['$${other:x}', '$${other:x}'],
  ];
  for (const [text, value] of cases) {
    it(`makes ${text} ${JSON.stringify(value)}`, () => {
      expect(interpolate({ a: [{ b: text }] }, at)).to.deep.equal({ a: [{ b: value }] });
    });
  }

  it('gives back every text that was escaped', () => {
    const piece = fc.constantFrom('$', '{', '}', 'env:', 'home:', ':-', 'NAME', '${env:NAME}', '\n', 'x');
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (given) => {
        expect(interpolate(escapeReferences(given), at)).to.equal(given);
      }),
      runs(500),
    );
  });

  it('leaves out a key whose reference is empty', () => {
    expect(interpolate({ a: '${env:EMPTY:-}', b: 1 }, at)).to.deep.equal({ b: 1 });
  });

  it('fails on a variable without value and default, naming it and the key', () => {
    expect(() => interpolate({ a: { b: ['${env:MISSING}'] } }, at))
      .to.throw('a.b[0]: the environment variable MISSING is not set and has no default')
      .with.property('code', 'UNSET_VARIABLE');
  });
});

describe('resolveHome', () => {
  const cases: readonly [string | undefined, string][] = [
    [undefined, join(homedir(), '.dsh')],
    ['', join(homedir(), '.dsh')],
    ['   ', join(homedir(), '.dsh')],
    ['~', homedir()],
    ['~/x', join(homedir(), 'x')],
    ['/abs/home', '/abs/home'],
    ['relative', join(process.cwd(), 'relative')],
  ];
  for (const [given, home] of cases) {
    it(`takes ${JSON.stringify(given)} as ${home.replace(homedir(), '~').replace(process.cwd(), '.')}`, () => {
      expect(resolveHome({ DSH_HOME: given })).to.equal(home);
    });
  }
});

describe('profiles', () => {
  it('ships sdk and sdk-minimal', async () => {
    expect(await shippedProfiles()).to.deep.equal(['sdk', 'sdk-minimal']);
    const { name, rows } = await loadProfile({ name: 'sdk', home: '/nowhere' });
    expect(name).to.equal('sdk');
    expect(rows.length).to.be.greaterThan(5);
  });

  for (const name of ['', '.', '..', 'a/b', 'a\\b', 'node_modules']) {
    it(`refuses the name ${JSON.stringify(name)} before touching the disk`, async () => {
      const failure = await loadProfile({ name, home: '/nowhere' }).catch((thrown: unknown) => thrown);
      expect(failure).to.have.property('code', 'INVALID_PROFILE_NAME');
    });
  }
});

describe('compose', () => {
  class WordConfig {
    @IsString()
    word!: string;
  }
  const modules = new ProfileModules([
    defineModule({ name: 'bare', runtime: new ContainerModule(() => undefined) }),
    defineModule({ name: 'word', config: WordConfig }),
  ]);
  const profile = (rows: Profile['rows']): Profile => ({ name: 'test', rows });

  it('keeps the order of the rows and skips disabled ones', async () => {
    const { rows } = await compose(
      profile([
        { id: 'b', module: 'bare' },
        { id: 'off', module: 'nothing', disabled: true },
        { id: 'a', module: 'word', config: { word: '${env:NAME}' } },
      ]),
      modules,
      at,
    );
    expect(rows.map(({ row }) => row.id)).to.deep.equal(['b', 'a']);
  });

  it('reports every broken row at once, by id', async () => {
    const failure = await compose(
      profile([
        { id: 'x', module: 'nothing' },
        { id: 'y', module: 'word', config: { word: 7 } },
        { id: 'z', module: 'bare', config: { extra: 1 } },
        { id: 'y', module: 'bare' },
      ]),
      modules,
      at,
    ).catch((thrown: unknown) => thrown as Error);
    expect(failure).to.have.property('code', 'INVALID_PROFILE');
    const { message } = failure as Error;
    expect(message).to.contain('row "x": there is no module "nothing"');
    expect(message).to.contain('row "y": word: word must be a string');
    expect(message).to.contain('row "z"').and.to.contain('extra');
    expect(message).to.contain('another row has the same id');
  });
});
