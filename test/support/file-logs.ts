import type { Logger } from '../../src/logging/index.js';
import type { FileSessionConfig } from '../../src/session/files/file-session-config.js';
import { FileSessionLog, type FileSessionLogContext } from '../../src/session/files/file-session-log.js';
import { FileSessionRepository } from '../../src/session/files/file-session-repository.js';
import { SessionLeases } from '../../src/session/files/session-lease.js';
import { SessionRoot } from '../../src/session/files/session-root.js';
import type { SessionHeader } from '../../src/session/index.js';
import { RecordingLogger } from './recording-logger.js';

/** A repository of files with the defaults of its row. */
export function fileRepository(
  root: string,
  config: Partial<FileSessionConfig> = {},
  logger: Logger = new RecordingLogger(),
): FileSessionRepository {
  return new FileSessionRepository(
    { root, durability: 'kernel', compression: 'none', packChunks: true, ...config },
    logger,
  );
}

/** The log of a new session, as a repository over this root would make it. */
export function newFileLog(
  root: string,
  header: SessionHeader,
  logger: Logger = new RecordingLogger(),
  context: Partial<FileSessionLogContext> = {},
): FileSessionLog {
  return new FileSessionLog(new SessionRoot(root).placeFor(header), header, {
    root,
    durability: 'kernel',
    packChunks: true,
    compression: 'none',
    leases: new SessionLeases(logger),
    logger,
    ...context,
  });
}
