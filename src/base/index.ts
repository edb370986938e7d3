export { Deferred } from './deferred.js';
export { Emitter } from './emitter.js';
export { CodedError, describeError, errorCode, toError } from './errors.js';
export { type LineSink, LineSplitter } from './line-splitter.js';
export { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from './log-options.js';
export { freezeJson, MAX_JSON_DEPTH } from './lossless-json.js';
export { type PackageInfo, packageInfo } from './package-info.js';
export { type Teardown, TeardownStack } from './teardown-stack.js';
export { headOf } from './text.js';
