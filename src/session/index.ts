export { SessionStoredError, StoreFailedError } from './errors.js';
export { NotificationListener, Notifications } from './notifications.js';
export {
  type Durability,
  type EncodedEvent,
  type SessionHeader,
  type SessionLog,
  SessionRepository,
  type StoredSession,
} from './repository.js';
export { type Placement, Session, type SessionInit, SessionParticipant, SessionStore } from './session.js';
