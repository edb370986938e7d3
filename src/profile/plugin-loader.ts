import { existsSync, statSync } from 'node:fs';
import { register } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { resolve as resolvePackage } from 'import-meta-resolve';
import { CodedError, errorCode, isObject, packageInfo, toError } from '../base/index.js';
import type { ModuleDefinition } from '../kernel/index.js';

let isHooked = false;

/**
 * The plugin that a file or an npm package exports by default (decision 34).
 *
 * @param specifier a path (`./`, `../`, absolute), or what a package is imported by
 * @param from absolute path of the file that names it; default: a file in the process's directory
 * @throws CodedError `PLUGIN_NOT_FOUND`, `PLUGIN_BROKEN`, `NO_PLUGIN`
 */
export async function loadPlugin(specifier: string, from = join(process.cwd(), 'code')): Promise<ModuleDefinition> {
  const url = locate(specifier, from);
  supplyImports();
  let exported: unknown;
  try {
    exported = ((await import(url)) as { readonly default?: unknown }).default;
  } catch (thrown) {
    const file = fileURLToPath(url);
    const problem = await problemOf(thrown, file);
    throw new CodedError('PLUGIN_BROKEN', `${file} cannot be imported: ${problem}`);
  }
  return definitionOf(exported, fileURLToPath(url));
}

function locate(specifier: string, from: string): string {
  if (/^\.{1,2}[\\/]/.test(specifier) || isAbsolute(specifier)) {
    const path = resolve(dirname(from), specifier);
    if (existsSync(path) && statSync(path).isFile()) return pathToFileURL(path).href;
    throw notFound(`there is no module ${JSON.stringify(specifier)}: ${path} is no file`);
  }
  try {
    const url = resolvePackage(specifier, pathToFileURL(from).href);
    if (url.startsWith('file:')) return url;
  } catch (thrown) {
    if (errorCode(thrown) !== 'ERR_MODULE_NOT_FOUND') {
      throw notFound(`there is no module ${JSON.stringify(specifier)}: ${toError(thrown).message}`);
    }
  }
  const where = dirname(from);
  const advice = `it is not shipped, and no package of that name is installed in ${where} or above; a file is named by a path with ./`;
  throw notFound(`there is no module ${JSON.stringify(specifier)}: ${advice}`);
}

/** What a plugin imports of ours and has no copy of comes from the running installation (decision 32). */
function supplyImports(): void {
  if (isHooked) return;
  isHooked = true;
  const { root } = packageInfo();
  const hook = pathToFileURL(join(root, 'dist', 'profile', 'plugin-imports.js')).href;
  register(hook, { data: { parentURL: pathToFileURL(join(root, 'package.json')).href } });
}

function definitionOf(exported: unknown, file: string): ModuleDefinition {
  // A CommonJS file that was compiled from an ES module has its default export one level further in.
  const value = isObject(exported) && '__esModule' in exported ? exported.default : exported;
  if (value === undefined) throw noPlugin(`${file} has no default export: export default definePlugin({ … })`);
  if (isDefinition(value)) return value;
  throw noPlugin(`the default export of ${file} is no plugin: make it with definePlugin({ name, … })`);
}

function isDefinition(value: unknown): value is ModuleDefinition {
  if (!isObject(value)) return false;
  return value.kind === 'dsh-module' && typeof value.name === 'string' && typeof value.configure === 'function';
}

/** Node tells where a syntax error is only when it checks a file. */
async function problemOf(thrown: unknown, file: string): Promise<string> {
  const { message } = toError(thrown);
  if (!(thrown instanceof SyntaxError)) return message;
  const { execFile } = await import('node:child_process');
  const stderr = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--check', file], (_error, _stdout, text) => resolve(text));
  });
  const [, line] = /^(?:file:\/\/)?\/.*:(\d+)$/m.exec(stderr) ?? [];
  return line === undefined ? message : `line ${line}: ${message}`;
}

function notFound(message: string): CodedError {
  return new CodedError('PLUGIN_NOT_FOUND', message);
}

function noPlugin(message: string): CodedError {
  return new CodedError('NO_PLUGIN', message);
}
