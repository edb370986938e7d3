import {
  ArrayUnique,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  type ValidationArguments,
  validateSync,
} from 'class-validator';
import { MAX_TIMER_MS } from '../../base/index.js';
import { REASONING_EFFORTS, type ReasoningEffort } from '../reasoning-effort.js';

/** One model of the catalog; what is left out comes from the row (core §5.3). */
export interface DeepSeekModel {
  readonly id: string;
  readonly name?: string;
  /** Default: text only. */
  readonly inputModalities?: readonly ('text' | 'image')[];
  /** Tokens. */
  readonly contextWindow?: number;
  /** Output tokens. */
  readonly maxTokens?: number;
}

class DeepSeekModelDto implements DeepSeekModel {
  @IsString()
  @IsNotEmpty()
  readonly id!: string;

  @IsOptional()
  @IsString()
  readonly name?: string;

  @IsOptional()
  @IsIn(['text', 'image'], { each: true })
  readonly inputModalities?: ('text' | 'image')[];

  @IsOptional()
  @IsTokenCount()
  readonly contextWindow?: number;

  @IsOptional()
  @IsTokenCount()
  readonly maxTokens?: number;
}

/** Config of a DeepSeek row (core §5.2). */
export class DeepSeekConfigDto {
  /** The environment variable that holds the key; read at each call. */
  @Matches(/^[A-Za-z_][A-Za-z0-9_]*$/, { message: 'apiKeyEnv must be the name of an environment variable' })
  readonly apiKeyEnv: string = 'DEEPSEEK_API_KEY';

  /** Default: the environment variable `DEEPSEEK_BASE_URL`, else the public API. */
  @IsOptional()
  @ValidateBy({
    name: 'isHttpUrl',
    validator: { validate: isHttpUrl, defaultMessage: () => 'baseURL must be an http or https URL' },
  })
  readonly baseURL?: string;

  /** `disabled` admits no effort but `off`. Default: the effort decides. */
  @IsOptional()
  @IsIn(['enabled', 'disabled'])
  readonly thinking?: 'enabled' | 'disabled';

  /** Default `high`; `off` when thinking is disabled. */
  @IsOptional()
  @IsIn(REASONING_EFFORTS)
  @SuitsThinking()
  readonly reasoningEffort?: ReasoningEffort;

  /** Output tokens asked for where neither the request nor the model says. */
  @IsTokenCount()
  readonly maxTokens: number = 256_000;

  /** Tokens; for a model that does not say, and for one outside the catalog. */
  @IsTokenCount()
  readonly defaultContextWindow: number = 1_000_000;

  /** Replaces the catalog. */
  @ArrayUnique((model: unknown) => (model as Partial<DeepSeekModel> | null)?.id, {
    message: 'models must not name an id twice',
  })
  @IsModelList()
  readonly models: readonly DeepSeekModel[] = [
    { id: 'deepseek-v4-flash', name: 'DeepSeek-V4-Flash' },
    { id: 'deepseek-v4-pro', name: 'DeepSeek-V4-Pro' },
    {
      id: 'deepseek-v4-flash-vision-exp',
      name: 'DeepSeek-V4-Flash-Vision-Exp',
      inputModalities: ['text', 'image'],
    },
  ];

  /** Milliseconds without a byte from the server before a call fails with `TIMEOUT`. */
  @IsInt()
  @Min(1)
  @Max(MAX_TIMER_MS)
  readonly streamIdleTimeoutMs: number = 300_000;
}

/** Whether `value` is the text of an absolute `http:` or `https:` URL. */
export function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value);
}

function IsTokenCount(): PropertyDecorator {
  return ValidateBy({
    name: 'isTokenCount',
    validator: {
      validate: (value) => Number.isSafeInteger(value) && (value as number) > 0,
      defaultMessage: (args) => `${args?.property} must be a positive safe integer`,
    },
  });
}

function SuitsThinking(): PropertyDecorator {
  return ValidateBy({
    name: 'suitsThinking',
    validator: {
      validate: (value, args) =>
        value === 'off' || (args?.object as DeepSeekConfigDto | undefined)?.thinking !== 'disabled',
      defaultMessage: () => 'reasoningEffort must be off when thinking is disabled',
    },
  });
}

/** Judges the entries here rather than by `@Type`, which would load class-transformer for every start. */
function IsModelList(): PropertyDecorator {
  return ValidateBy({
    name: 'isModelList',
    validator: {
      validate: (value) => modelListProblem(value) === undefined,
      defaultMessage: (args?: ValidationArguments) => modelListProblem(args?.value) ?? '',
    },
  });
}

function modelListProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'models must be a list';
  for (const [index, entry] of value.entries()) {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
      return `models[${index}] must be a mapping`;
    const [error] = validateSync(Object.assign(new DeepSeekModelDto(), entry), {
      whitelist: true,
      forbidNonWhitelisted: true,
    });
    const message = Object.values(error?.constraints ?? {})[0];
    if (message !== undefined) return `models[${index}]: ${message}`;
  }
  return undefined;
}
