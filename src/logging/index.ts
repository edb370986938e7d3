export { type LogFields, Logger } from './logger.js';
export { WinstonLogger, type WinstonLoggerOptions } from './winston-logger.js';
