import type { LogLevel } from '../../src/base/index.js';
import type { LogFields, Logger } from '../../src/logging/index.js';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** A logger that keeps what it is told; children tell their parent. */
export class RecordingLogger implements Logger {
  readonly records: LogRecord[] = [];

  error(message: string, fields?: LogFields): void {
    this.records.push({ level: 'error', message, fields });
  }
  warn(message: string, fields?: LogFields): void {
    this.records.push({ level: 'warn', message, fields });
  }
  info(message: string, fields?: LogFields): void {
    this.records.push({ level: 'info', message, fields });
  }
  debug(message: string, fields?: LogFields): void {
    this.records.push({ level: 'debug', message, fields });
  }
  child(): Logger {
    return this;
  }
  isEnabled(): boolean {
    return true;
  }
  messages(level: LogLevel): readonly string[] {
    return this.records.filter((record) => record.level === level).map((record) => record.message);
  }
}
