export { LOG_FORMATS, type LogFormat } from './log-format.js';
export { LOG_LEVELS, type LogFields, Logger, type LogLevel } from './logger.js';
export { WinstonLogger, type WinstonLoggerOptions } from './winston-logger.js';
