import { IsArray, IsIn, IsInt, IsNotEmpty, IsNumber, IsOptional, IsString, Max, Min } from 'class-validator';
import { Describe } from '../../kernel/index.js';
import type { ModelInfo } from '../adapter.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../retry-policy.js';
import { IsAtMost, IsCount, IsMappingOf, IsMilliseconds } from './config-rules.js';
import type { ImageLimits } from './images.js';
import { RESEND_REASONING, type ResendReasoning } from './quirks.js';

const MIB = 1024 * 1024;

/** One model of a catalog; what is left out comes from the row (core §5.3). */
export class ChatModelDto {
  @IsString()
  @IsNotEmpty()
  readonly id!: string;

  @IsOptional()
  @IsString()
  readonly name?: string;

  /** Default: text only. */
  @IsOptional()
  @IsArray()
  @IsIn(['text', 'image'], { each: true })
  readonly inputModalities?: readonly ('text' | 'image')[];

  /** How closely it looks at images; by default the provider decides. */
  @IsOptional()
  @IsIn(['low', 'high', 'auto'])
  readonly imageDetail?: 'low' | 'high' | 'auto';

  /** Tokens. */
  @IsOptional()
  @IsCount()
  readonly contextWindow?: number;

  /** Output tokens. */
  @IsOptional()
  @IsCount()
  readonly maxTokens?: number;
}

class RetryPolicyDto implements RetryPolicy {
  @IsIn(['normal', 'always'])
  readonly mode = DEFAULT_RETRY_POLICY.mode;

  @IsInt()
  @Min(0)
  readonly maxRetries = DEFAULT_RETRY_POLICY.maxRetries;

  @IsArray()
  @IsString({ each: true })
  readonly codes = DEFAULT_RETRY_POLICY.codes;

  @IsMilliseconds(0)
  @IsAtMost('maxDelayMs')
  readonly initialDelayMs = DEFAULT_RETRY_POLICY.initialDelayMs;

  @IsMilliseconds(0)
  readonly maxDelayMs = DEFAULT_RETRY_POLICY.maxDelayMs;

  @IsNumber({ allowNaN: false })
  @Min(0)
  @Max(1)
  readonly jitterRatio = DEFAULT_RETRY_POLICY.jitterRatio;

  @IsMilliseconds(0)
  readonly overloadBudgetMs = DEFAULT_RETRY_POLICY.overloadBudgetMs;
}

/** What the rows of all chat completion adapters have in common. */
export abstract class ChatConfigDto implements ImageLimits {
  @Describe('Which earlier answers take their reasoning back to the model.')
  @IsIn(RESEND_REASONING)
  abstract readonly resendReasoning: ResendReasoning;

  @Describe('Milliseconds until a connection must stand.')
  @IsMilliseconds()
  readonly connectTimeoutMs: number = 30_000;

  @Describe('Milliseconds without a byte from the server before a call fails with `TIMEOUT`.')
  @IsMilliseconds()
  readonly streamIdleTimeoutMs: number = 300_000;

  @Describe(
    'When failed calls are tried again, where it is to differ from the built-in policy: `mode`, `maxRetries`, `codes`, `initialDelayMs`, `maxDelayMs`, `jitterRatio`, `overloadBudgetMs`.',
  )
  @IsOptional()
  @IsMappingOf(RetryPolicyDto)
  readonly retryPolicy?: Partial<RetryPolicy>;

  @Describe('Bytes of images, before base64, that one request carries at most.')
  @IsCount()
  readonly maxInlineRequestImageBytes: number = 20 * MIB;

  @Describe('Images that one request carries at most.')
  @IsCount()
  readonly maxImagesPerRequest: number = 600;

  @Describe('Bytes that leave a request at once when its images are too large together.')
  @IsCount()
  readonly inlineImageOffloadByteQuantum: number = 10 * MIB;

  @Describe('Images that leave a request at once when they are too many.')
  @IsCount()
  readonly imageOffloadCountQuantum: number = 20;
}

/** What the catalog tells of a model; `shared` is what it does not say itself. */
export function modelInfoOf(
  { imageDetail: _, ...model }: ChatModelDto,
  shared: Omit<ModelInfo, 'id' | 'name' | 'inputModalities'>,
): ModelInfo {
  return { ...shared, ...model, inputModalities: model.inputModalities ?? ['text'] };
}

/** Its policy, whole; nothing when the row says nothing. */
export function retryPolicyOf({ retryPolicy }: ChatConfigDto): { readonly retryPolicy?: RetryPolicy } {
  return retryPolicy === undefined ? {} : { retryPolicy: { ...DEFAULT_RETRY_POLICY, ...retryPolicy } };
}
