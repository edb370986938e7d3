import { isUtf8 } from 'node:buffer';
import { type CodedError, errorCode, toError } from '../../base/index.js';
import type { SessionEvent } from '../../protocol/index.js';
import type { EventVisitor, LogCondition, LogReading, SessionHeader } from '../repository.js';
import { corrupt, guarded, parseHeader, parseLine, unsupported } from '../stored-log.js';
import { ByteLines } from './byte-lines.js';

/** No event comes near it; what is longer is garbage, and not worth its memory. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const TURN_END = '{"type":"turn/end"';

/** Where a closed turn ends. */
export interface TurnEnd {
  readonly turn: number;
  /** Events up to and with the `turn/end`. */
  readonly eventCount: number;
  /** Bytes of the log's text up to there. */
  readonly bytes: number;
}

/** What reading a log's text came to. Byte counts are of the text, whatever form it is stored in. */
export interface TextReading extends LogReading {
  readonly headerBytes: number;
  /** The good events end here. */
  readonly goodBytes: number;
  /** In order. */
  readonly turnEnds: readonly TurnEnd[];
}

const PREFIX_ADVICE = '"dsh sessions fork" goes on from a turn before it, in a new session';

interface Defect {
  readonly where: string;
  readonly problem: string;
  /** No torn write can have made it. */
  readonly isDamage: boolean;
}

/**
 * Reads a log's text as it comes (core §4.7): a header, then events until the first defect. What follows a defect is
 * searched for a `turn/end` only, which tells damage from a torn write (decision 41).
 */
export class LogParser {
  readonly #lines = new ByteLines((bytes, length) => this.#line(bytes, length), MAX_LINE_BYTES);
  #lineNumber = 0;
  #bytes = 0;
  #header: SessionHeader | undefined;
  #headerBytes = 0;
  #goodBytes = 0;
  #eventCount = 0;
  readonly #turnEnds: TurnEnd[] = [];
  #defect: Defect | undefined;
  #isTurnEndLater = false;
  /** Of the file as a whole: no log can be read from it. */
  #refusal: Error | undefined;

  /**
   * @param path names the file in problems
   * @param id what the header has to name; undefined: whatever it names
   * @param prefixOnly whether an event of an unknown type, of a newer version say, is where the good events end. Default:
   *   the log is refused as a whole.
   */
  constructor(
    private readonly path: string,
    private readonly id: string | undefined,
    private readonly visit: EventVisitor,
    private readonly prefixOnly = false,
  ) {}

  /** The next slice of the text. Never throws. @returns whether there is any sense in going on */
  push(bytes: Buffer): boolean {
    this.#lines.push(bytes);
    return this.#refusal === undefined;
  }

  /**
   * What it came to, when there is no more text.
   *
   * @param broken why there is no more although there should be; `isCutOff`: as a torn write would leave it
   * @throws CodedError `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`
   */
  end(broken?: { readonly message: string; readonly isCutOff: boolean }): TextReading {
    if (this.#refusal !== undefined) throw this.#refusal;
    const header = this.#header;
    if (header === undefined) {
      const where = `${this.path}:1`;
      throw broken === undefined ? noHeader(where) : corrupt(where, broken.message);
    }
    if (this.#lines.openBytes > 0) this.#endOpenLine();
    const { seedLength = 0 } = header;
    if (broken !== undefined) this.#add(broken.message, !broken.isCutOff);
    // They were stored at once and whole.
    if (this.#eventCount < seedLength) this.#add(`the log ends before its ${seedLength} inherited events do`, true);
    return {
      header,
      eventCount: this.#eventCount,
      condition: this.#condition(),
      headerBytes: this.#headerBytes,
      goodBytes: this.#goodBytes,
      turnEnds: this.#turnEnds,
    };
  }

  /** A defect of the file as a whole: what was found in a line before it says more. */
  #add(problem: string, isDamage: boolean): void {
    const before = this.#defect ?? { where: this.path, problem, isDamage };
    this.#defect = { ...before, isDamage: before.isDamage || isDamage };
  }

  #condition(): LogCondition {
    const droppedBytes = this.#bytes + this.#lines.openBytes - this.#goodBytes;
    if (this.#defect === undefined) return { kind: 'sound' };
    const { where, problem, isDamage } = this.#defect;
    if (isDamage || this.#isTurnEndLater) return { kind: 'damaged', where, problem };
    return { kind: 'torn', where, problem, droppedBytes };
  }

  #line(bytes: Buffer | undefined, length: number): void {
    this.#lineNumber += 1;
    this.#bytes += length + 1;
    if (this.#refusal !== undefined) return;
    if (this.#header === undefined) this.#readHeader(bytes);
    else if (this.#defect === undefined) this.#readEvents(bytes);
    else this.#isTurnEndLater ||= isTurnEnd(bytes);
  }

  /** It was never finished; that it holds a whole `turn/end` after a defect says enough all the same. */
  #endOpenLine(): void {
    this.#lineNumber += 1;
    if (this.#defect === undefined) this.#fail('the line is cut off', false);
    else this.#isTurnEndLater ||= isTurnEnd(this.#lines.rest());
  }

  #readHeader(bytes: Buffer | undefined): void {
    try {
      this.#header = readHeaderLine(bytes, this.#where, this.id);
      this.#headerBytes = this.#bytes;
      this.#goodBytes = this.#bytes;
    } catch (thrown) {
      this.#refusal = toError(thrown);
    }
  }

  #readEvents(bytes: Buffer | undefined): void {
    let events: readonly SessionEvent[];
    try {
      events = parseLine(textOf(bytes), this.#eventCount);
    } catch (thrown) {
      const { message } = toError(thrown);
      const isUnknown = errorCode(thrown) === 'SESSION_FORMAT_UNSUPPORTED';
      if (isUnknown && !this.prefixOnly) this.#refusal = unsupported(this.#where, `${message}; ${PREFIX_ADVICE}`);
      else this.#fail(message, isUnknown || isTurnEnd(bytes));
      return;
    }
    for (const [at, event] of events.entries()) {
      try {
        this.visit(event);
      } catch (thrown) {
        // When part of a row has been heard, no place in the file is where the good events end.
        this.#fail(toError(thrown).message, at > 0 || event.type === 'turn/end');
        return;
      }
      this.#eventCount += 1;
    }
    this.#goodBytes = this.#bytes;
    const last = events.at(-1);
    if (last?.type !== 'turn/end') return;
    this.#turnEnds.push({ turn: last.data.turn, eventCount: this.#eventCount, bytes: this.#bytes });
  }

  #fail(problem: string, isDamage: boolean): void {
    this.#defect = { where: this.#where, problem, isDamage };
  }

  get #where(): string {
    return `${this.path}:${this.#lineNumber}`;
  }
}

/**
 * Line 1 of a log.
 *
 * @param id what it has to name; undefined: whatever it names
 * @throws CodedError `SESSION_CORRUPT`, `SESSION_FORMAT_UNSUPPORTED`
 */
export function readHeaderLine(bytes: Buffer | undefined, where: string, id: string | undefined): SessionHeader {
  const header = parseHeader(
    guarded(where, () => textOf(bytes)),
    where,
  );
  if (id === undefined || header.id === id) return header;
  throw corrupt(where, `the header names session ${JSON.stringify(header.id)}, not ${JSON.stringify(id)}`);
}

/** `SESSION_CORRUPT`: there is no first line. */
export function noHeader(where: string): CodedError {
  return corrupt(where, 'the header line is missing or incomplete');
}

function textOf(bytes: Buffer | undefined): string {
  if (bytes === undefined) throw new Error(`the line is longer than ${MAX_LINE_BYTES} bytes`);
  if (!isUtf8(bytes)) throw new Error('the line is not UTF-8');
  return bytes.toString('utf8');
}

/** Also behind something else: what a crash cut off has no newline between itself and what was written next. */
function isTurnEnd(bytes: Buffer | undefined): boolean {
  const at = bytes?.lastIndexOf(TURN_END) ?? -1;
  if (bytes === undefined || at < 0) return false;
  try {
    const { seq } = JSON.parse(bytes.toString('utf8', at)) as { readonly seq?: unknown };
    return Number.isSafeInteger(seq);
  } catch {
    return false;
  }
}
