import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { CodedError, errorCode, isObject } from '../../base/index.js';
import type { Logger } from '../../logging/index.js';
import { SessionLeasedError } from '../errors.js';
import type { LeaseHolder } from '../repository.js';
import { isRunning, ownIdentity, type ProcessIdentity, sharesPids } from './process-identity.js';

const HEARTBEAT_MS = 5_000;
/** A holder on another machine is given up for dead when it has not been heard of for so long. */
const STALE_MS = 30_000;
const FILE_MODE = 0o600;
/** It becomes part of a file name. */
const NONCE = /^[\w-]{1,64}$/;
/** Each attempt loses to somebody who was faster: nobody loses so often. */
const ATTEMPTS = 10;

/** What a lease file says. Its length never changes: it is written over in place. */
interface LeaseRecord extends ProcessIdentity, LeaseHolder {
  readonly nonce: string;
}

/** A lease file that is none was cut off by a power failure: it is made whole, and nobody who lives has it. */
type Found = LeaseRecord | 'garbage' | undefined;

/** Who holds the lease of this file now; undefined when it is free, or its holder is gone. */
export function leaseHolder(path: string): LeaseHolder | undefined {
  const live = living(readLease(path));
  return live === undefined ? undefined : holderOf(live);
}

/** The leases that one repository holds on sessions (decision 39), kept alive by one timer for all of them. */
export class SessionLeases {
  readonly #held = new Set<SessionLease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly logger: Logger) {}

  /**
   * Takes a session for this process; its directory has to exist. What a dead holder left is taken over.
   *
   * @throws SessionLeasedError somebody holds it; this process itself, too
   * @throws system errors
   */
  take(path: string, sessionId: string): SessionLease {
    const now = Date.now();
    const record: LeaseRecord = { ...ownIdentity(), startedAt: now, nonce: randomUUID(), heartbeatAt: now };
    const temporary = `${path}.${record.nonce}.tmp`;
    const fd = openSync(temporary, 'wx', FILE_MODE);
    try {
      write(fd, record);
      claim(temporary, path, sessionId);
    } catch (thrown) {
      closeSync(fd);
      throw thrown;
    } finally {
      removeQuietly(temporary);
    }
    const lease = new SessionLease(path, sessionId, fd, record, () => this.#forget(lease));
    this.#held.add(lease);
    this.#timer ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    return lease;
  }

  #beat(): void {
    const now = Date.now();
    for (const lease of this.#held) {
      try {
        lease.beat(now);
      } catch (error) {
        // Who writes the session next hears of it, too.
        if (errorCode(error) === 'LEASE_LOST') this.#forget(lease);
        this.logger.warn('a session lease could not be renewed', { sessionId: lease.sessionId, error });
      }
    }
  }

  #forget(lease: SessionLease): void {
    this.#held.delete(lease);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** A session is this process's to write, until {@link release}. */
export class SessionLease {
  #fd: number | undefined;

  /** @param onReleased runs once */
  constructor(
    private readonly path: string,
    readonly sessionId: string,
    fd: number,
    private readonly record: LeaseRecord,
    private readonly onReleased: () => void,
  ) {
    this.#fd = fd;
  }

  /**
   * A sign of life, through the descriptor: it can never reach the file of a holder that came later.
   *
   * @throws CodedError `LEASE_LOST`
   */
  beat(now: number): void {
    if (this.#fd === undefined) return;
    this.assertHeld();
    write(this.#fd, { ...this.record, heartbeatAt: now });
  }

  /** @throws CodedError `LEASE_LOST` somebody else has taken the session over, or the lease file is gone */
  assertHeld(): void {
    const found = readLease(this.path);
    if (this.#isOurs(found)) return;
    const session = `session ${JSON.stringify(this.sessionId)}`;
    const problem =
      found === undefined || found === 'garbage'
        ? `the lease of ${session} is gone from ${this.path}`
        : `${session} was taken over by process ${found.pid} on ${found.host} at ${new Date(found.startedAt).toISOString()}`;
    throw new CodedError('LEASE_LOST', `${problem}: nothing more of it is written here`);
  }

  /** Gives the session back, unless somebody else has it by now. Idempotent; never throws. */
  release(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    this.onReleased();
    try {
      if (this.#isOurs(readLease(this.path))) unlinkSync(this.path);
      closeSync(fd);
    } catch {
      // Whoever wants the session next finds that its holder is gone.
    }
  }

  #isOurs(found: Found): boolean {
    return found !== undefined && found !== 'garbage' && found.nonce === this.record.nonce;
  }
}

/**
 * Puts `temporary` in the place of a lease that is free or stale. A link never overwrites, so one of those who want a
 * free lease gets it. Who replaces a stale one must hold the lease of doing so, a file named after what it replaces:
 * only one can, and it looks again when it has it. A replacer that dies leaves a stale lease, which is replaced alike.
 *
 * @throws SessionLeasedError somebody has it, or is about to
 */
function claim(temporary: string, path: string, sessionId: string): void {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (linked(temporary, path)) return;
    const found = readLease(path);
    if (found === undefined) continue;
    const live = living(found);
    if (live !== undefined) throw new SessionLeasedError(sessionId, holderOf(live));
    const replacing = `${path}.${nonceOf(found)}`;
    claim(temporary, replacing, sessionId);
    try {
      if (nonceOf(readLease(path)) !== nonceOf(found)) continue;
      const name = `${temporary}.link`;
      linkSync(temporary, name);
      renameSync(name, path);
      return;
    } finally {
      removeQuietly(replacing);
    }
  }
  throw new Error(`${path} changes hands all the time`);
}

function nonceOf(found: Found): string {
  if (found === undefined) return 'none';
  return found === 'garbage' ? found : found.nonce;
}

function linked(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/** What was found, if it is not stale. */
function living(found: Found): LeaseRecord | undefined {
  if (found === undefined || found === 'garbage') return undefined;
  const isAlive = sharesPids(found) ? isRunning(found) : Date.now() - found.heartbeatAt <= STALE_MS;
  return isAlive ? found : undefined;
}

function holderOf({ pid, host, startedAt, heartbeatAt }: LeaseRecord): LeaseHolder {
  return { pid, host, startedAt, heartbeatAt };
}

function readLease(path: string): Found {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isRecord(value) ? value : 'garbage';
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return 'garbage';
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function isRecord(value: unknown): value is LeaseRecord {
  if (!isObject(value)) return false;
  const { pid, host, startedAt, nonce, heartbeatAt } = value;
  const times = [pid, startedAt, heartbeatAt].every((number) => Number.isSafeInteger(number));
  return times && typeof host === 'string' && typeof nonce === 'string' && NONCE.test(nonce);
}

function write(fd: number, record: LeaseRecord): void {
  writeSync(fd, `${JSON.stringify(record)}\n`, 0);
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}
