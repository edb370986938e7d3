import {
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Min,
  ValidateBy,
  type ValidationArguments,
  validateSync,
} from 'class-validator';
import { isObject } from '../base/index.js';
import { Describe } from '../kernel/index.js';
import type { ModelPrice } from './prices.js';

class PerMillionDto {
  @IsAmount()
  readonly input!: number;

  @IsAmount()
  readonly output!: number;

  @IsOptional()
  @IsAmount()
  readonly cacheRead?: number;

  @IsOptional()
  @IsAmount()
  readonly cacheWrite?: number;
}

class ModelPriceDto {
  @IsString()
  @IsNotEmpty()
  readonly provider!: string;

  @IsString()
  @IsNotEmpty()
  readonly model!: string;

  @Matches(/^[A-Z]{3}$/, { message: 'currency must be three capital letters, as USD' })
  readonly currency!: string;

  @IsObject()
  readonly perMillion!: object;
}

/** Config of the row `llm`. */
export class ModelConfigDto {
  @Describe('What models cost; none is known by default.')
  @IsPriceList()
  readonly prices: readonly ModelPrice[] = [];
}

function IsAmount(): PropertyDecorator {
  return (target, property) => {
    IsNumber({ allowNaN: false, allowInfinity: false })(target, property);
    Min(0)(target, property);
  };
}

/** Judges the entries here rather than by `@Type`: a message then names the entry. */
function IsPriceList(): PropertyDecorator {
  return ValidateBy({
    name: 'isPriceList',
    validator: {
      validate: (value) => priceListProblem(value) === undefined,
      defaultMessage: (args?: ValidationArguments) => priceListProblem(args?.value) ?? '',
    },
  });
}

function priceListProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'prices must be a list';
  const seen = new Set<string>();
  for (const [index, entry] of value.entries()) {
    const problem = priceProblem(entry);
    if (problem !== undefined) return `prices[${index}]${problem}`;
    const { provider, model } = entry as ModelPrice;
    const key = JSON.stringify([provider, model]);
    if (seen.has(key)) return `prices[${index}]: provider "${provider}", model "${model}" has a price already`;
    seen.add(key);
  }
  return undefined;
}

function priceProblem(entry: unknown): string | undefined {
  if (!isObject(entry)) return ' must be a mapping';
  const own = firstProblem(new ModelPriceDto(), entry);
  if (own !== undefined) return `: ${own}`;
  const amounts = firstProblem(new PerMillionDto(), entry.perMillion as object);
  return amounts === undefined ? undefined : `.perMillion: ${amounts}`;
}

function firstProblem(dto: object, entry: object): string | undefined {
  const [error] = validateSync(Object.assign(dto, entry), { whitelist: true, forbidNonWhitelisted: true });
  return Object.values(error?.constraints ?? {})[0];
}
