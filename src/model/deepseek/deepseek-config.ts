import { IsIn, IsOptional, Matches, ValidateBy } from 'class-validator';
import { Describe } from '../../kernel/index.js';
import { ChatConfigDto, ChatModelDto } from '../chat-completions/chat-config.js';
import { IsCount, IsHttpUrl, IsModelListOf } from '../chat-completions/config-rules.js';
import type { ResendReasoning } from '../chat-completions/quirks.js';
import { REASONING_EFFORTS, type ReasoningEffort } from '../reasoning-effort.js';

/** Config of a DeepSeek row (core §5.2). */
export class DeepSeekConfigDto extends ChatConfigDto {
  @Describe('The environment variable that holds the key; read at each call.')
  @Matches(/^[A-Za-z_][A-Za-z0-9_]*$/, { message: 'apiKeyEnv must be the name of an environment variable' })
  readonly apiKeyEnv: string = 'DEEPSEEK_API_KEY';

  @Describe('Default: the environment variable `DEEPSEEK_BASE_URL`, else the public API.')
  @IsOptional()
  @IsHttpUrl()
  readonly baseURL?: string;

  @Describe('`disabled` admits no effort but `off`. Default: the effort decides.')
  @IsOptional()
  @IsIn(['enabled', 'disabled'])
  readonly thinking?: 'enabled' | 'disabled';

  @Describe('Default `high`; `off` when thinking is disabled.')
  @IsOptional()
  @IsIn(REASONING_EFFORTS)
  @SuitsThinking()
  readonly reasoningEffort?: ReasoningEffort;

  @Describe('The API wants all of it back; older models refused any.')
  readonly resendReasoning: ResendReasoning = 'always';

  @Describe('Output tokens asked for where neither the request nor the model says.')
  @IsCount()
  readonly maxTokens: number = 256_000;

  @Describe('Tokens; for a model that does not say, and for one outside the catalog.')
  @IsCount()
  readonly defaultContextWindow: number = 1_000_000;

  @Describe('Replaces the catalog.')
  @IsModelListOf(ChatModelDto)
  readonly models: readonly ChatModelDto[] = [
    { id: 'deepseek-v4-flash', name: 'DeepSeek-V4-Flash' },
    { id: 'deepseek-v4-pro', name: 'DeepSeek-V4-Pro' },
    {
      id: 'deepseek-v4-flash-vision-exp',
      name: 'DeepSeek-V4-Flash-Vision-Exp',
      inputModalities: ['text', 'image'],
    },
  ];
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
