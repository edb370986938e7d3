import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expect } from 'chai';
import { init, parse } from 'es-module-lexer';
import { packageInfo } from '../src/base/index.js';

const { root } = packageInfo();
const compiled = join(root, '.build', 'src');

/** Files that reach past another folder's index, and why that is right. */
const DEEP_IMPORTS: readonly { readonly from: RegExp; readonly to: RegExp }[] = [
  // The catalog is where the modules are named.
  { from: /^profile\/catalog\.js$/, to: /\.module\.js$/ },
  // The guard has to load alone, before everything else; the signals are caught before the rest is loaded.
  { from: /^cli\/dsh\.js$/, to: /^host\/stdout-guard\.js$/ },
  { from: /^cli\/main\.js$/, to: /^host\/process-signals\.js$/ },
];

/** The layer table of docs/architecture.md: folder -> folders it may import. */
function layers(): Map<string, ReadonlySet<string>> {
  const text = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');
  const table = text.slice(text.indexOf('<!-- layers -->'), text.indexOf('<!-- /layers -->'));
  const rows = [...table.matchAll(/^\| `(\w+)` +\|.*\| *(.*?) *\|$/gm)];
  const allowed = new Map<string, ReadonlySet<string>>();
  for (const [, folder = '', may = ''] of rows) {
    const named = [...may.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const all = may.startsWith('all of the above');
    const above = [...allowed.keys()].filter((name) => !named.includes(name));
    allowed.set(folder, new Set(all ? above : named));
  }
  return allowed;
}

interface Import {
  /** Both relative to the sources, with forward slashes; `to` is a package or `node:` module when it is not ours. */
  readonly from: string;
  readonly to: string;
  readonly isOwn: boolean;
}

function imports(): Import[] {
  const files = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  return files.flatMap((file) => {
    const [found] = parse(readFileSync(join(compiled, file), 'utf8'), file);
    const specifiers = found.flatMap(({ specifier }) => (typeof specifier === 'string' ? [specifier] : []));
    const from = file.split(sep).join('/');
    return specifiers.map((specifier) => {
      const isOwn = specifier.startsWith('.');
      const target = relative(compiled, resolve(compiled, dirname(file), specifier))
        .split(sep)
        .join('/');
      return { from, to: isOwn ? target : specifier, isOwn };
    });
  });
}

const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '');
const show = ({ from, to }: Import): string => `${from} -> ${to}`;

describe('architecture', () => {
  let all: Import[] = [];
  const table = layers();

  before(async () => {
    await init;
    all = imports();
  });

  it('has every source folder in the layer table', () => {
    const folders = new Set(all.map(({ from }) => folderOf(from)).filter((folder) => folder !== ''));
    expect([...folders].filter((folder) => !table.has(folder))).to.deep.equal([]);
    expect(folders.size).to.be.greaterThan(10);
  });

  it('imports downwards only', () => {
    const upward = all.filter(({ from, to, isOwn }) => {
      const [folder, target] = [folderOf(from), folderOf(to)];
      return isOwn && folder !== '' && target !== folder && table.get(folder)?.has(target) !== true;
    });
    expect(upward.map(show)).to.deep.equal([]);
  });

  it('reaches other folders through their index', () => {
    const deep = all.filter(({ from, to, isOwn }) => {
      const crosses = isOwn && folderOf(from) !== '' && folderOf(to) !== folderOf(from);
      const isExcepted = DEEP_IMPORTS.some((rule) => rule.from.test(from) && rule.to.test(to));
      return crosses && !/^\w+\/index\.js$/.test(to) && !isExcepted;
    });
    expect(deep.map(show)).to.deep.equal([]);
  });

  it('loads the client, the wire and the primitives without any package', () => {
    const light = new Set(['base', 'protocol', 'client']);
    const heavy = all.filter(({ from, to, isOwn }) => light.has(folderOf(from)) && !isOwn && !to.startsWith('node:'));
    expect(heavy.map(show)).to.deep.equal([]);
  });

  it('makes containers in the kernel only', () => {
    const makers = readdirSync(compiled, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') && !file.startsWith('kernel'))
      .filter((file) => /new Container\(/.test(readFileSync(join(compiled, file), 'utf8')));
    expect(makers).to.deep.equal([]);
  });
});
