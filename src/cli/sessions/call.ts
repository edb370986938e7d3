import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { Profile } from '../../profile/index.js';
import type { FileSessionArchive, SessionTarget } from '../../session/index.js';
import { UsageError } from '../usage.js';

/** One `dsh sessions` command as it was typed, and what it works on. */
export interface SessionsCall {
  /** Its name, for messages. */
  readonly command: string;
  readonly ids: readonly string[];
  readonly options: SessionsOptions;
  readonly profile: Profile;
  readonly archive: FileSessionArchive;
  readonly output: Output;
}

/** Options by their names; each command takes some of them. */
export interface SessionsOptions {
  readonly json?: boolean;
  readonly file?: string;
  readonly prices?: string;
  readonly 'drop-damage'?: boolean;
  readonly compression?: string;
  readonly turn?: string;
  readonly id?: string;
  readonly 'older-than'?: string;
  readonly keep?: string;
  readonly 'max-size'?: string;
  readonly 'dry-run'?: boolean;
}

/** Where results and complaints go. */
export interface Output {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Exit codes of `dsh sessions`. */
export type ExitCode = 0 | 1;

/** The log that the command works on. @throws UsageError not exactly one is named */
export async function targetOf(call: SessionsCall): Promise<SessionTarget> {
  const [target, second] = await targetsOf(call);
  if (target === undefined) throw new UsageError(`dsh sessions ${call.command} needs a SESSION, or --file PATH`);
  if (second !== undefined) throw new UsageError(`dsh sessions ${call.command} takes one SESSION`);
  return target;
}

/** The logs that the command works on. @throws UsageError both ids and a file are named */
export async function targetsOf({ ids, options: { file } }: SessionsCall): Promise<readonly SessionTarget[]> {
  if (file === undefined) return ids.map((id) => ({ id }));
  if (ids.length > 0) throw new UsageError('--file takes the place of a SESSION');
  return [{ file: await logPath(file) }];
}

/** A target as messages name it. */
export function nameOf(target: SessionTarget): string {
  return 'id' in target ? target.id : target.file;
}

/** The only JSON document of a command. */
export function document(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** A directory stands for the log in it, whatever its form. */
async function logPath(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true ? join(resolve(path), 'session.jsonl') : resolve(path);
}
