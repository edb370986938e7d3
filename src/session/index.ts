export { SessionLeasedError, SessionStoredError, StoreFailedError } from './errors.js';
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
