// Builds dist/: tsc's output, the profiles as JSON, and the command line as one bundle.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { parse } from 'yaml';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const require = createRequire(import.meta.url);

rmSync(dist, { recursive: true, force: true });

const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
execFileSync(process.execPath, [tsc, '-p', join(root, 'config', 'tsconfig.build.json')], { stdio: 'inherit' });

mkdirSync(join(dist, 'profiles'), { recursive: true });
for (const file of readdirSync(join(root, 'config', 'profiles'))) {
  const name = basename(file, '.yml');
  writeFileSync(join(dist, 'profiles', `${name}.json`), JSON.stringify(readProfile(name)));
}

// A start does not need these; looked up on first use, they are not loaded by it.
const lazyBuiltins = ['node:child_process', 'node:crypto', 'node:net'];

// Bundled after tsc, which has lowered the decorators. What start-up does not need stays in chunks of its own.
await build({
  entryPoints: [join(dist, 'cli', 'dsh.js')],
  outdir: join(dist, 'bin'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  chunkNames: 'chunks/[name]-[hash]',
  minifyWhitespace: true,
  logLevel: 'warning',
  // Of the ES module build only the decorators in use stay; the CommonJS build loads everything it has.
  alias: { 'class-validator': 'class-validator/esm5' },
  plugins: [{ name: 'lazy-builtins', setup: makeLazy }],
  // Made when it is needed: every chunk has one, and few need it at a start.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nlet __require0;\nconst require = (id) => (__require0 ??= __createRequire(import.meta.url))(id);",
  },
});
chmodSync(join(dist, 'bin', 'dsh.js'), 0o755);

/** As it stands: what it extends is put together when it is loaded. */
function readProfile(name) {
  return parse(readFileSync(join(root, 'config', 'profiles', `${name}.yml`), 'utf8'));
}

function makeLazy(api) {
  api.onResolve({ filter: /^node:/ }, ({ path }) =>
    lazyBuiltins.includes(path) ? { path, namespace: 'lazy' } : undefined,
  );
  api.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => {
    const names = Object.keys(require(path));
    const getters = names.map((name) => `get ${name}() { return process.getBuiltinModule('${path}').${name}; }`);
    return { contents: `module.exports = { ${getters.join(',\n')} };` };
  });
}
