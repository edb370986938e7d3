import { lstat, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CodedError, errorCode, toError } from '../../base/index.js';
import { fileNameOf, formOf, LOG_FORMS, type LogForm } from './log-compression.js';

const LOG_FILE = 'session.jsonl';

/** A file that holds a log. */
export interface StoredLogFile {
  readonly path: string;
  readonly form: LogForm;
}

/** Where the files of one session stand (core §4.1): its log in one form or another, and its lease. */
export class SessionPlace {
  /** The plain log: the one that is written. */
  readonly path: string;
  readonly leasePath: string;

  private constructor(
    readonly directory: string,
    private readonly base: string,
  ) {
    this.path = join(directory, base);
    this.leasePath = join(directory, `${base.replace(/\.jsonl$/, '')}.lease`);
  }

  /** That of a session which has a directory to itself. */
  static in(directory: string): SessionPlace {
    return new SessionPlace(directory, LOG_FILE);
  }

  /** That of a log anywhere, named by a file of any form. */
  static ofFile(path: string): SessionPlace {
    return new SessionPlace(dirname(path), formOf(basename(path)).base);
  }

  fileOf(form: LogForm): StoredLogFile {
    return { path: join(this.directory, fileNameOf(this.base, form)), form };
  }

  /**
   * The files that are there, the plain one first. More than one is what a crash between two steps leaves.
   *
   * @throws CodedError `STORE_FAILED`
   */
  async storedFiles(): Promise<readonly StoredLogFile[]> {
    const names = await namesIn(this.directory);
    return LOG_FORMS.map((form) => this.fileOf(form)).filter(({ path }) => names.has(basename(path)));
  }

  /** Removes what was left of writes that a crash cut off; for whoever holds the lease. */
  async removeLeftovers(): Promise<void> {
    for (const name of await namesIn(this.directory)) {
      if (!name.startsWith(this.base) || !name.endsWith('.tmp')) continue;
      await rm(join(this.directory, name), { recursive: true, force: true });
    }
  }
}

/**
 * Size and age of a file, undefined when it is not there.
 *
 * @throws CodedError `STORE_FAILED`; of a link to nothing, too
 */
export async function fileFacts(
  path: string,
): Promise<{ readonly bytes: number; readonly modifiedAt: number } | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { bytes: size, modifiedAt: mtimeMs };
  } catch (thrown) {
    if (isAbsence(thrown) && !(await isLink(path))) return undefined;
    throw storeFailed(`${path} cannot be looked at`, thrown);
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

/** `STORE_FAILED`, with what the system said. */
export function storeFailed(what: string, cause: unknown): CodedError {
  return new CodedError('STORE_FAILED', `${what}: ${toError(cause).message}`, { cause });
}

async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  try {
    return new Set(await readdir(directory));
  } catch (thrown) {
    if (isAbsence(thrown)) return new Set();
    throw storeFailed(`${directory} cannot be read`, thrown);
  }
}

function isAbsence(thrown: unknown): boolean {
  const code = errorCode(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
