import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inject, injectable } from 'inversify';
import { CodedError, errorCode, toError } from '../base/index.js';
import type { Startable } from '../kernel/index.js';
import { Logger } from '../logging/index.js';
import { SessionStoredError } from './errors.js';
import { FileSessionConfig } from './file-session-config.js';
import { FileSessionLog } from './file-session-log.js';
import type {
  EventVisitor,
  LogReading,
  ResumedLog,
  SessionHeader,
  SessionLog,
  SessionRepository,
} from './repository.js';
import { readSessionFile, readSessionFileHeader } from './session-file-reader.js';
import { projectDirectoryName, sessionDirectoryName } from './session-path.js';
import { corrupt, sessionNotFound, unsupported } from './stored-log.js';

const LOG_FILE = 'session.jsonl';
const COMPRESSED_LOG_FILE = 'session.jsonl.zstd';

/** One JSONL file a session, `<root>/<project>/<session>/session.jsonl` (core §4.1, format 0, plain event lines). */
@injectable()
export class FileSessionRepository implements SessionRepository, Startable {
  readonly name = 'session logs';
  readonly #root: string;
  readonly #logger: Logger;

  constructor(
    @inject(FileSessionConfig) private readonly config: FileSessionConfig,
    @inject(Logger) logger: Logger,
  ) {
    this.#root = resolve(config.root);
    this.#logger = logger.child('session-logs');
  }

  /** @throws CodedError `STORE_FAILED` the root exists and cannot be used */
  async start(): Promise<void> {
    await this.#projects();
  }

  async create(header: SessionHeader): Promise<SessionLog> {
    const { id, cwd } = header;
    if ((await this.#locate(id)).length > 0) throw new SessionStoredError(id);
    const path = join(this.#root, projectDirectoryName(cwd), sessionDirectoryName(id), LOG_FILE);
    return new FileSessionLog(path, this.config.durability, this.#root, header, this.#logger);
  }

  async find(sessionId: string): Promise<SessionHeader | undefined> {
    const path = await this.#locateOne(sessionId);
    return path === undefined ? undefined : readSessionFileHeader(path, sessionId);
  }

  async resume(sessionId: string): Promise<ResumedLog> {
    throw new SessionStoredError(sessionId);
  }

  async read(sessionId: string, visit: EventVisitor): Promise<LogReading> {
    const path = await this.#locateOne(sessionId);
    if (path === undefined) throw sessionNotFound(sessionId);
    return readSessionFile(path, sessionId, visit);
  }

  async #locateOne(id: string): Promise<string | undefined> {
    const [path, second] = await this.#locate(id);
    if (path === undefined) return undefined;
    if (second !== undefined) {
      throw corrupt(path, `session ${JSON.stringify(id)} is stored a second time, in ${second}`);
    }
    if (path.endsWith(COMPRESSED_LOG_FILE)) throw unsupported(path, 'compressed logs cannot be read yet');
    return path;
  }

  /** Every file that holds the session, whichever workspace it was made in. */
  async #locate(id: string): Promise<string[]> {
    const name = sessionDirectoryName(id);
    const found = await Promise.all((await this.#projects()).map((project) => logsIn(join(project, name))));
    return found.flat();
  }

  /** Directories of the root; none while there is no root. */
  async #projects(): Promise<string[]> {
    try {
      const entries = await readdir(this.#root, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [] : join(this.#root, entry.name)));
    } catch (thrown) {
      const code = errorCode(thrown);
      if (code === 'ENOENT') return [];
      const problem = code === 'ENOTDIR' ? 'is not a directory' : `cannot be read: ${toError(thrown).message}`;
      throw new CodedError('STORE_FAILED', `session root ${this.#root} ${problem}`, { cause: thrown });
    }
  }
}

async function logsIn(directory: string): Promise<string[]> {
  if (!(await exists(directory))) return [];
  const paths = [join(directory, LOG_FILE), join(directory, COMPRESSED_LOG_FILE)];
  const found = await Promise.all(paths.map(exists));
  return paths.filter((_, index) => found[index]);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new CodedError('STORE_FAILED', `${path} cannot be looked at: ${toError(thrown).message}`, { cause: thrown });
  }
}
