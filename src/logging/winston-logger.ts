import type { Logger as Winston } from 'winston';
import { LOG_LEVELS, type LogFormat, type LogLevel } from '../base/index.js';
import { formatRecord, type LogRecord } from './log-format.js';
import type { LogFields, Logger } from './logger.js';

/** What is logged, in which form, and where to. */
export interface WinstonLoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Where lines go. Never stdout. */
  readonly stream: NodeJS.WritableStream;
}

/**
 * Winston, writing to one stream. The library is imported when the first line is due: most runtimes never log.
 * Lines keep their order and their time of call; {@link flush} settles when all have been written.
 */
export class WinstonLogger implements Logger {
  readonly #sink: WinstonSink;
  readonly #component: string | undefined;

  private constructor(sink: WinstonSink, component: string | undefined) {
    this.#sink = sink;
    this.#component = component;
  }

  static create(options: WinstonLoggerOptions): WinstonLogger {
    return new WinstonLogger(new WinstonSink(options), undefined);
  }

  error(message: string, fields?: LogFields): void {
    this.#log('error', message, fields);
  }
  warn(message: string, fields?: LogFields): void {
    this.#log('warn', message, fields);
  }
  info(message: string, fields?: LogFields): void {
    this.#log('info', message, fields);
  }
  debug(message: string, fields?: LogFields): void {
    this.#log('debug', message, fields);
  }

  child(component: string): Logger {
    return new WinstonLogger(this.#sink, component);
  }

  isEnabled(level: LogLevel): boolean {
    return this.#sink.isEnabled(level);
  }

  flush(): Promise<void> {
    return this.#sink.flush();
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (!this.isEnabled(level)) return;
    this.#sink.write({ time: Date.now(), level, component: this.#component, message, fields });
  }
}

class WinstonSink {
  readonly #options: WinstonLoggerOptions;
  readonly #threshold: number;
  #logger: Winston | undefined;
  #loading: Promise<void> | undefined;
  readonly #waiting: LogRecord[] = [];

  constructor(options: WinstonLoggerOptions) {
    this.#options = options;
    this.#threshold = LOG_LEVELS.indexOf(options.level);
  }

  isEnabled(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= this.#threshold;
  }

  write(record: LogRecord): void {
    if (this.#logger === undefined) {
      this.#waiting.push(record);
      this.#loading ??= this.#load();
      return;
    }
    this.#logger.log(record.level, formatRecord(record, this.#options.format));
  }

  async flush(): Promise<void> {
    await this.#loading;
    const { stream } = this.#options;
    if (this.#logger !== undefined && stream.writable)
      await new Promise<void>((done) => stream.write('', () => done()));
  }

  async #load(): Promise<void> {
    const { default: winston } = await import('winston');
    const { level, stream } = this.#options;
    this.#logger = winston.createLogger({
      levels: Object.fromEntries(LOG_LEVELS.map((name, rank) => [name, rank])),
      level,
      format: winston.format.printf(({ message }) => String(message)),
      transports: [new winston.transports.Stream({ stream, eol: '\n' })],
    });
    for (const record of this.#waiting.splice(0)) this.write(record);
  }
}
