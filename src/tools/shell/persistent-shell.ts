import type { SessionHold } from '../../agent/index.js';
import { CodedError } from '../../base/index.js';
import { serviceId } from '../../kernel/index.js';

/** How a shell process ended. */
export type ShellExit =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };

/** How a command ended; anything but `status` means that the shell is gone and the next command gets a fresh one. */
export type CommandEnd =
  | { readonly kind: 'status'; readonly status: number }
  | ShellExit
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  /** The shell is through with the command and cannot say how it went: the command broke what it needs for that. */
  | { readonly kind: 'unanswered' };

/** What a command left, whichever way it ended. */
export interface ShellResult {
  /** What the command wrote to stdout and stderr, in order: the head of it, up to the configured characters. */
  readonly output: string;
  /** Set when `output` is only the head: how many bytes there were in all. */
  readonly clippedFrom?: number;
  readonly end: CommandEnd;
  /** Set when the shell of earlier commands had ended since the last one, so that this command saw a fresh shell. */
  readonly lost?: ShellExit;
}

/**
 * One shell of a session, started in its workspace by the first command: directory, variables, functions and options
 * stay from one command to the next (runtime §3.2). Session scope.
 *
 * Every command reads `/dev/null`. Background processes may stay when it ends; what they write afterwards is dropped.
 * When the shell ends, by itself or by a reset, all its processes end with it. While it lives it holds its session.
 */
export interface PersistentShell extends SessionHold {
  /**
   * Runs one command; calls run one after another, in order.
   *
   * An abort resets the shell and rejects with the signal's reason, whatever the command did.
   *
   * @throws ShellError the shell cannot be started, or was closed
   */
  run(command: string, signal: AbortSignal): Promise<ShellResult>;
  /** Ends what runs, and frees processes, descriptors and files. Idempotent. */
  close(): Promise<void>;
}
/** Bound by the shell's module for each session; closed with the session's scope. */
export const PersistentShell = serviceId<PersistentShell>('PersistentShell');

/** A command that did not run: `SHELL_NOT_STARTED`, `SHELL_CLOSED`. */
export class ShellError extends CodedError {
  override readonly name = 'ShellError';

  static notStarted(what: string, why: string, cause?: unknown): ShellError {
    return new ShellError('SHELL_NOT_STARTED', `the shell cannot be started: ${what}: ${why}`, { cause });
  }
  static closed(): ShellError {
    return new ShellError('SHELL_CLOSED', 'the shell was closed together with its session');
  }
}
