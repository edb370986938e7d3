export { SessionLeasedError, SessionLostError, SessionStoredError, StoreFailedError } from './errors.js';
export {
  type CompactReport,
  FileSessionArchive,
  type GcOptions,
  type SessionEntry,
  type SessionReport,
  type SessionTarget,
} from './files/file-session-archive.js';
export type { ForkedSession, ForkOptions } from './files/fork-session-file.js';
export { LOG_FORMS, type LogForm } from './files/log-compression.js';
export { readSessionLog } from './files/read-session-log.js';
export type { RepairOptions, RepairReport } from './files/repair-session-file.js';
export { NotificationListener, Notifications } from './notifications.js';
export {
  type Durability,
  type EncodedEvent,
  type EventVisitor,
  type LeaseHolder,
  type LogCondition,
  type LogReading,
  type ResumedLog,
  type SessionHeader,
  type SessionLog,
  SessionRepository,
} from './repository.js';
export { type Placement, Session, type SessionInit, SessionParticipant, SessionStore } from './session.js';
