import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorCode, expandHome, packageInfo } from '../base/index.js';
import type { HarnessClientOptions } from './options.js';

/** A process to start. */
export interface LaunchPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** How messages call it: `dsh profile "sdk"`; undefined for a command of the caller's. */
  readonly label: string | undefined;
}

/**
 * The process that the options name, its files and directory checked. The environment is read now.
 *
 * @param ownPatch a patch after those of the options, absolute
 * @throws Error naming the command or directory at fault
 */
export function planLaunch(options: HarnessClientOptions, ownPatch?: string): LaunchPlan {
  const cwd = options.processCwd === undefined ? undefined : resolve(options.processCwd);
  if (cwd !== undefined) checkDirectory('processCwd', cwd);
  const env: NodeJS.ProcessEnv = { ...(options.env ?? process.env) };
  if (options.dshHome !== undefined) env.DSH_HOME = expandHome(options.dshHome);

  if (options.launch !== undefined) {
    const { command, args = [] } = options.launch;
    const isPath = /[\\/]/.test(command);
    const program = isPath ? resolve(command) : command;
    if (isPath) checkFile('launch.command', program, constants.X_OK);
    return { command: program, args, cwd, env, label: undefined };
  }
  const bin = resolve(options.dshBin ?? join(packageInfo().root, 'dist', 'bin', 'dsh.js'));
  const profile = options.profile ?? 'sdk';
  const files = [...(options.patches ?? []), ...(ownPatch === undefined ? [] : [ownPatch])];
  const patches = files.flatMap((patch) => ['--patch', resolve(patch)]);
  const args = ['--profile', profile, ...patches];
  const label = `dsh profile "${profile}"`;
  const isScript = /\.[mc]?js$/i.test(bin);
  checkFile('dshBin', bin, isScript ? constants.R_OK : constants.X_OK);
  if (isScript) return { command: process.execPath, args: [bin, ...args], cwd, env, label };
  return { command: bin, args, cwd, env, label };
}

function checkDirectory(what: string, path: string): void {
  if (!statOf(what, path).isDirectory()) throw new Error(`${what} is not a directory: ${path}`);
}

function checkFile(what: string, path: string, mode: number): void {
  if (statOf(what, path).isDirectory()) throw new Error(`${what} is a directory: ${path}`);
  try {
    accessSync(path, mode);
  } catch (cause) {
    throw new Error(`${what} is not ${mode === constants.X_OK ? 'executable' : 'readable'}: ${path}`, { cause });
  }
}

function statOf(what: string, path: string): ReturnType<typeof statSync> & object {
  try {
    return statSync(path);
  } catch (cause) {
    const code = errorCode(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Error(`${what} does not exist: ${path}`, { cause });
    throw new Error(`${what} cannot be looked at (${code}): ${path}`, { cause });
  }
}
