import {
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  Matches,
} from 'class-validator';
import { isObject } from '../../base/index.js';
import { Describe } from '../../kernel/index.js';
import type { JsonValue } from '../../protocol/index.js';
import { ChatConfigDto, ChatModelDto } from '../chat-completions/chat-config.js';
import { HasNo, IsCount, IsHttpUrl, IsModelListOf } from '../chat-completions/config-rules.js';
import { REASONING_FIELDS, type ReasoningField, type ResendReasoning } from '../chat-completions/quirks.js';

/** One model of such a server. */
export class OpenAiCompatibleModelDto extends ChatModelDto {
  /** Default: those of the row's `reasoningEffortValues`. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  readonly reasoningEfforts?: readonly string[];
}

/** Config of one server that speaks chat completions; a profile may have several rows of them. */
export class OpenAiCompatibleConfigDto extends ChatConfigDto {
  @Describe('The route id that `initialize` names.')
  @IsString()
  @IsNotEmpty()
  readonly provider!: string;

  @Describe('How messages name the server; default: `provider`.')
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  readonly name?: string;

  @Describe('Without `/chat/completions`, as `http://127.0.0.1:11434/v1`.')
  @IsHttpUrl()
  readonly baseURL!: string;

  @Describe('The environment variable that holds the key, read at each call; without it no key is sent.')
  @IsOptional()
  @Matches(/^[A-Za-z_][A-Za-z0-9_]*$/, { message: 'apiKeyEnv must be the name of an environment variable' })
  readonly apiKeyEnv?: string;

  @Describe('Sent with each call; never logged.')
  @HasNo(headersProblem)
  readonly headers: Readonly<Record<string, string>> = {};

  @Describe('What is known of the models; see `llm-deepseek`. Each may have `reasoningEfforts` of its own.')
  @IsModelListOf(OpenAiCompatibleModelDto)
  readonly models: readonly OpenAiCompatibleModelDto[] = [];

  @Describe('`closed`: only what `models` lists is served.')
  @IsIn(['advisory', 'closed'])
  readonly catalog: 'advisory' | 'closed' = 'advisory';

  @Describe('Output tokens asked for where neither the request nor the model says; without it the server decides.')
  @IsOptional()
  @IsCount()
  readonly defaultMaxTokens?: number;

  @Describe('Under which name the most output tokens are asked for.')
  @IsIn(['max_tokens', 'max_completion_tokens'])
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens' = 'max_tokens';

  @Describe('Where in the body the effort goes; dots lead into objects, as in `reasoning.effort`.')
  @Matches(/^[^.]+(\.[^.]+)*$/, { message: 'reasoningEffortField must be names with dots between them' })
  readonly reasoningEffortField: string = 'reasoning_effort';

  @Describe('What is sent for an effort, where it is not its name; its keys are the efforts of models that list none.')
  @IsObject()
  readonly reasoningEffortValues: Readonly<Record<string, JsonValue>> = {};

  @Describe('Where in the stream reasoning stands; the first that holds some counts.')
  @IsArray()
  @ArrayNotEmpty()
  @IsIn(REASONING_FIELDS, { each: true })
  readonly reasoningFields: readonly ReasoningField[] = REASONING_FIELDS;

  @Describe('Which earlier answers take their reasoning back to the model.')
  readonly resendReasoning: ResendReasoning = 'never';

  @Describe('The name under which reasoning is sent back.')
  @IsIn(REASONING_FIELDS)
  readonly resendReasoningAs: ReasoningField = 'reasoning_content';

  @Describe('Ask for usage by `stream_options`, which some servers do not know.')
  @IsBoolean()
  readonly streamUsage: boolean = true;

  @Describe('`required`: a stream that ends without `[DONE]` was cut, even after a finish reason.')
  @IsIn(['required', 'optional'])
  readonly doneMarker: 'required' | 'optional' = 'optional';

  @Describe('Who says the system prompt.')
  @IsIn(['system', 'developer'])
  readonly systemRole: 'system' | 'developer' = 'system';
}

/** Those that the adapter sets itself, or that are Node's to set. */
const RESERVED_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
]);

/** Never with a value in it. */
function headersProblem(headers: unknown): string | undefined {
  if (!isObject(headers)) return 'headers must be a mapping';
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `headers: ${JSON.stringify(name)} is not the name of a header`;
    if (RESERVED_HEADERS.has(name.toLowerCase())) return `headers: ${name} is set by the adapter`;
    if (typeof value !== 'string') return `headers: ${name} must be a string`;
    if (/[^\t\x20-\x7e]/.test(value)) return `headers: ${name} holds characters that no HTTP header can carry`;
  }
  return undefined;
}
