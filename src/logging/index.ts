export { LOG_LEVELS, type LogFields, Logger, type LogLevel } from './logger.js';
