import { execFile } from 'node:child_process';
import { builtBin } from './lab.js';

/** What became of a `dsh` process. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built `dsh` to its end, with nothing in its environment but PATH and `env`. */
export function dsh(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    const child = execFile(process.execPath, [builtBin, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
