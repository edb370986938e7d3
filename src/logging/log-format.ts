import { describeError, type LogFormat, type LogLevel } from '../base/index.js';
import type { LogFields } from './logger.js';

/** One line on stderr, before it is formatted. */
export interface LogRecord {
  /** Epoch milliseconds of the call, not of the write. */
  readonly time: number;
  readonly level: LogLevel;
  readonly component: string | undefined;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** `2026-11-30T21:00:00.000Z warn [transport] message key=value`, or one JSON object. Never more than one line. */
export function formatRecord(record: LogRecord, format: LogFormat): string {
  const time = new Date(record.time).toISOString();
  const fields = Object.entries(record.fields ?? {}).map(([key, value]) => [key, readable(value)] as const);
  if (format === 'json') {
    const { level, component, message } = record;
    return JSON.stringify({ ...Object.fromEntries(fields), time, level, ...(component && { component }), message });
  }
  const component = record.component === undefined ? '' : ` [${record.component}]`;
  const rest = fields.map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${time} ${record.level}${component} ${record.message}${rest.join('')}`.replaceAll(/[\r\n]+\s*/g, ' | ');
}

function readable(value: unknown): unknown {
  return value instanceof Error ? describeError(value) : value;
}
