import { closeSync, constants, openSync, readSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { errorCode } from '../../base/index.js';

/** What a pipe holds at most, so the most that can still be in it when its command has ended. */
const PIPE_CAPACITY = 64 * 1024;
/** One for all channels: what is read is handed on at once. */
const scratch = Buffer.allocUnsafeSlow(PIPE_CAPACITY);

/** Takes what a command wrote, piece by piece. The bytes are valid during the call only, and it must not throw. */
export type OutputSink = (bytes: Uint8Array) => void;

/**
 * The reading side of one FIFO, which commands write to, one after another, as long as none leaves a process behind
 * that still holds it. Always read: a writer never waits for long, and never meets a closed pipe.
 */
export class OutputChannel {
  readonly path: string;
  readonly #reader: number;
  readonly #socket: Socket;
  /** Held so that a reader without a command does not see the end of the stream. */
  #writer: number | undefined;
  #sink: OutputSink | undefined;

  /**
   * @param onDrained the process that {@link finish} told of has gone; the channel is closed then
   * @throws system errors, when the FIFO cannot be opened
   */
  constructor(path: string, onDrained: () => void) {
    this.path = path;
    this.#reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      this.#writer = openWriter(path);
    } catch (thrown) {
      closeSync(this.#reader);
      throw thrown;
    }
    // With a buffer of ours, pausing stops the reads themselves. The types know it for `connect` only.
    const options: SocketConstructorOpts & ConnectOpts = {
      fd: this.#reader,
      readable: true,
      writable: false,
      onread: { buffer: scratch, callback: (length, bytes) => this.#received(bytes.subarray(0, length)) },
    };
    this.#socket = new Socket(options);
    this.#socket.pause();
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('close', onDrained);
  }

  /** Hands on what is written from now on; the bytes are valid during the call only. */
  start(sink: OutputSink): void {
    this.#sink = sink;
    this.#socket.resume();
  }

  /**
   * To be called when the command has ended: hands on what it wrote last, then nothing more.
   *
   * @returns whether the channel is free for the next command. If not, a process that the command left still holds it:
   *   what that one writes is read and dropped until it ends.
   */
  finish(): boolean {
    this.#socket.pause();
    this.#releaseWriter();
    const isFree = this.#drain();
    this.#sink = undefined;
    if (isFree) {
      try {
        this.#writer = openWriter(this.path);
        return true;
      } catch {
        // Its file was removed: no command could open it again.
      }
    }
    this.#socket.resume();
    return false;
  }

  /** Idempotent. A process that still writes gets SIGPIPE. */
  close(): void {
    this.#releaseWriter();
    this.#socket.destroy();
  }

  /** Hands on what is in the pipe; true when nobody can write to it any more. */
  #drain(): boolean {
    for (let room = PIPE_CAPACITY; room > 0; ) {
      let length: number;
      try {
        length = readSync(this.#reader, scratch, 0, room, null);
      } catch (thrown) {
        if (errorCode(thrown) === 'EAGAIN') return false;
        throw thrown;
      }
      if (length === 0) return true;
      this.#sink?.(scratch.subarray(0, length));
      room -= length;
    }
    return false;
  }

  #received(bytes: Uint8Array): boolean {
    this.#sink?.(bytes);
    return true;
  }

  #releaseWriter(): void {
    if (this.#writer !== undefined) closeSync(this.#writer);
    this.#writer = undefined;
  }
}

function openWriter(path: string): number {
  return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
}
