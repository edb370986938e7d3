/** Names under which servers stream what the model thinks, and take it back. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;
/** One of {@link REASONING_FIELDS}. */
export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** Which earlier answers take their reasoning back to the model. */
export const RESEND_REASONING = ['never', 'with-tool-calls', 'always'] as const;
/** One of {@link RESEND_REASONING}. */
export type ResendReasoning = (typeof RESEND_REASONING)[number];

/** How the chat completions of one provider differ from those of another. Data only: what is done with it is shared. */
export interface ChatQuirks {
  /** The provider, as messages name it: `X` makes `X API error (HTTP 500)`. */
  readonly name: string;
  /** The member of the request that caps the output. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** The role of the system prompt. */
  readonly systemRole: 'system' | 'developer';
  /** Ask for usage by `stream_options`. */
  readonly streamUsage: boolean;
  /** A stream that ends without `[DONE]` was cut, even after a finish reason. */
  readonly needsDone: boolean;
  /** Where reasoning is read from; the first that holds some counts, delta by delta. */
  readonly reasoningFields: readonly ReasoningField[];
  /** Which answers take their reasoning back, and under which name. */
  readonly resendReasoning: ResendReasoning;
  readonly resendReasoningAs: ReasoningField;
  /** Tool calls that came without reasoning go back with an empty one: the API refuses them otherwise. */
  readonly emptyReasoning: boolean;
  /** A call without an id gets one. */
  readonly inventCallIds: boolean;
}
