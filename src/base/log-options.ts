/** Levels of diagnostics, most severe first. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
/** The least severe level that is shown, or the level of one line. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How a line of diagnostics looks. */
export const LOG_FORMATS = ['text', 'json'] as const;
/** `text`: one readable line a record. `json`: one JSON object a line. */
export type LogFormat = (typeof LOG_FORMATS)[number];
