import type { Writable } from 'node:stream';
import { CodedError } from '../../base/index.js';
import { textTable } from '../text-table.js';
import { parse, print, requireText, UsageError } from '../usage.js';
import { PLUGIN_HELP } from './help.js';
import { npm } from './npm.js';
import { seenFrom } from './package-specs.js';
import { PluginRows } from './plugin-rows.js';
import { openProfile, type UserProfile } from './user-profile.js';

const OPTIONS = { help: { type: 'boolean', short: 'h' }, profile: { type: 'string' } } as const;
const COMMANDS = ['add', 'remove', 'list'] as const;

/**
 * `dsh plugin --profile NAME add|remove|list`: npm packages in a profile's directory, and the rows that name them
 * (runtime §1.12 with npm).
 *
 * @returns npm's own exit status; 127 when there is no npm
 * @throws UsageError; CodedError `INVALID_PROFILE_NAME`, `INVALID_PATCH`, `INVALID_MANIFEST`
 */
export async function plugin(argv: readonly string[], stdout: Writable): Promise<number> {
  const { values, positionals } = parse({ args: [...argv], options: OPTIONS, allowPositionals: true });
  if (values.help === true) return print(stdout, PLUGIN_HELP);
  requireText(values, ['profile']);
  const [name, ...specs] = positionals;
  const command = COMMANDS.find((known) => known === name);
  if (command === undefined) {
    const what = name === undefined ? 'a command is required' : `unknown command ${JSON.stringify(name)}`;
    throw new UsageError(`${what}: ${COMMANDS.join(', ')}`);
  }
  if (values.profile === undefined) throw new UsageError('--profile NAME is required');
  if (command === 'list' && specs.length > 0) throw new UsageError('dsh plugin list takes no package');
  if (command !== 'list' && specs.length === 0) throw new UsageError(`dsh plugin ${command} needs a package`);
  const stray = specs.find((spec) => spec.trim() === '');
  if (stray !== undefined) throw new UsageError('a package must not be empty');
  const profile = await openProfile(values.profile, { create: command === 'add' });
  try {
    if (command === 'add') return await add(profile, specs, stdout);
    if (command === 'remove') return await remove(profile, specs, stdout);
    return await list(profile, stdout);
  } catch (thrown) {
    if (!(thrown instanceof CodedError) || thrown.code !== 'NPM_NOT_FOUND') throw thrown;
    process.stderr.write(`dsh: ${thrown.message}\n`);
    return 127;
  }
}

async function add({ packages, patch, ids }: UserProfile, specs: readonly string[], stdout: Writable): Promise<number> {
  const rows = await PluginRows.open(patch);
  await packages.create();
  const before = await packages.saved();
  const seen = specs.map((spec) => seenFrom(process.cwd(), spec));
  const code = await npm(packages.directory, ['install', '--save', '--no-audit', '--no-fund', '--', ...seen]);
  if (code !== 0) return failed(code, packages.directory);
  const named = [...(await packages.saved())].filter(
    ([name, spec]) => before.get(name) !== spec || isNamed(name, specs),
  );
  for (const [module] of named) {
    if (rows.list().some((row) => row.module === module)) continue;
    const short = module.replace(/^@[^/]+\//, '').replace(/^dsh-plugin-(?=.)/, '');
    const isTaken = ids.includes(short) || rows.list().some(({ id }) => id === short);
    const id = isTaken ? module : short;
    rows.add({ id, module });
    stdout.write(`row ${JSON.stringify(id)} added to ${patch}\n`);
  }
  await rows.save();
  return 0;
}

/** One that was installed before is saved as it was. */
function isNamed(name: string, specs: readonly string[]): boolean {
  return specs.some((spec) => spec === name || spec.startsWith(`${name}@`));
}

async function remove({ packages, patch }: UserProfile, names: readonly string[], stdout: Writable): Promise<number> {
  const rows = await PluginRows.open(patch);
  const saved = await packages.saved();
  const unknown = names.find((name) => !saved.has(name));
  if (unknown !== undefined) {
    const known = [...saved.keys()].join(', ') || 'nothing';
    throw new CodedError(
      'NOT_INSTALLED',
      `${JSON.stringify(unknown)} is not installed in ${packages.directory}; installed: ${known}`,
    );
  }
  const code = await npm(packages.directory, ['uninstall', '--save', '--no-audit', '--no-fund', '--', ...names]);
  if (code !== 0) return failed(code, packages.directory);
  for (const { id, module } of rows.list()) {
    if (names.includes(module)) stdout.write(`row ${JSON.stringify(id)} removed from ${patch}\n`);
  }
  for (const name of names) rows.remove(name);
  await rows.save();
  return 0;
}

async function list({ packages, patch }: UserProfile, stdout: Writable): Promise<0> {
  const rows = (await PluginRows.open(patch)).list();
  const saved = [...(await packages.saved())];
  if (saved.length === 0) return print(stdout, 'no plugins\n');
  const lines = saved.map(async ([name, spec]) => {
    const ids = rows.filter(({ module }) => module === name).map(({ id }) => id);
    return [name, (await packages.installedVersion(name)) ?? 'not installed', ids.join(', ') || '-', spec];
  });
  return print(stdout, textTable(['PACKAGE', 'VERSION', 'ROW', 'SPEC'], await Promise.all(lines)));
}

function failed(code: number, directory: string): number {
  process.stderr.write(`dsh: npm failed in ${directory}\n`);
  return code;
}
