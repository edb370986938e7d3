import type { LogLevel } from '../base/index.js';
import { serviceId } from '../kernel/index.js';

/**
 * Diagnostics, on stderr only: stdout is the protocol. Fields are JSON-safe; an Error under `error` is shown with its
 * causes. Never log per chunk, and never a secret.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** The same logger with `component` in every line. */
  child(component: string): Logger;
  /** Whether lines of this level are shown: ask before composing a costly one. */
  isEnabled(level: LogLevel): boolean;
}
/** Details of one line, by name. A JSON line's own `time`, `level`, `component` and `message` win over them. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Runtime scope, provided by the host before any module is loaded. */
export const Logger = serviceId<Logger>('Logger');
