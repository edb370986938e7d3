import { inject, injectable } from 'inversify';
import { errorCode } from '../../base/index.js';
import type { Startable } from '../../kernel/index.js';
import { Logger } from '../../logging/index.js';
import { SessionLeasedError, SessionStoredError } from '../errors.js';
import type {
  EventVisitor,
  LogReading,
  ResumedLog,
  SessionHeader,
  SessionLog,
  SessionRepository,
} from '../repository.js';
import { sessionNotFound } from '../stored-log.js';
import { FileSessionConfig } from './file-session-config.js';
import { FileSessionLog, type FileSessionLogContext } from './file-session-log.js';
import { resumeSessionFile } from './resume-session-file.js';
import { currentFile, readSessionFile, readSessionFileHeader } from './session-file-reader.js';
import { type SessionLease, SessionLeases } from './session-lease.js';
import { type SessionPlace, type StoredLogFile, storeFailed } from './session-place.js';
import { SessionRoot } from './session-root.js';

/** A session that is closed or resumed meanwhile changes its form: the next look finds it. */
const LOOKS = 100;

/** One JSONL file a session, `<root>/<project>/<session>/session.jsonl` (core §4.1, format 0), compressed at rest. */
@injectable()
export class FileSessionRepository implements SessionRepository, Startable {
  readonly name = 'session logs';
  readonly #root: SessionRoot;
  readonly #context: FileSessionLogContext;

  constructor(@inject(FileSessionConfig) config: FileSessionConfig, @inject(Logger) parent: Logger) {
    const logger = parent.child('session-logs');
    const { durability, packChunks, compression } = config;
    this.#root = new SessionRoot(config.root);
    const leases = new SessionLeases(logger);
    this.#context = { root: this.#root.path, durability, packChunks, compression, leases, logger };
  }

  /** @throws CodedError `STORE_FAILED` the root exists and cannot be used */
  async start(): Promise<void> {
    await this.#root.projects();
  }

  async create(header: SessionHeader): Promise<SessionLog> {
    const stored = await this.#root.findAll(header.id);
    if (stored.length > 0) throw new SessionStoredError(header.id);
    return new FileSessionLog(this.#root.placeFor(header), header, this.#context);
  }

  async resume(sessionId: string, visit: EventVisitor): Promise<ResumedLog> {
    const place = await this.#root.find(sessionId);
    if (place === undefined) throw sessionNotFound(sessionId);
    const lease = this.#take(place, sessionId);
    try {
      const { reading, opened } = await resumeSessionFile(place, sessionId, lease, visit);
      const { header, eventCount, condition } = reading;
      return {
        log: new FileSessionLog(place, header, this.#context, opened),
        reading: { header, eventCount, condition },
      };
    } catch (thrown) {
      lease.release();
      throw thrown;
    }
  }

  find(sessionId: string): Promise<SessionHeader | undefined> {
    return this.#look(sessionId, (file) => readSessionFileHeader(file, sessionId));
  }

  async read(sessionId: string, visit: EventVisitor): Promise<LogReading> {
    const reading = await this.#look(sessionId, (file) => readSessionFile(file, { id: sessionId, visit }));
    if (reading === undefined) throw sessionNotFound(sessionId);
    const { header, eventCount, condition } = reading;
    return { header, eventCount, condition };
  }

  #take(place: SessionPlace, sessionId: string): SessionLease {
    try {
      return this.#context.leases.take(place.leasePath, sessionId);
    } catch (thrown) {
      if (thrown instanceof SessionLeasedError) throw thrown;
      throw storeFailed(`session ${JSON.stringify(sessionId)} cannot be leased`, thrown);
    }
  }

  async #look<T>(id: string, read: (file: StoredLogFile) => Promise<T>): Promise<T | undefined> {
    for (let look = 1; ; look += 1) {
      const place = await this.#root.find(id);
      const file = place && (await currentFile(place));
      if (file === undefined) return undefined;
      try {
        return await read(file);
      } catch (thrown) {
        const isGone = errorCode((thrown as Error).cause) === 'ENOENT';
        if (!isGone || look === LOOKS) throw thrown;
      }
    }
  }
}
