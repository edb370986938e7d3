import type { TokenUsage } from '../protocol/index.js';
import type { Cost, ModelPrice, PriceTable } from './prices.js';

const MILLION = 1_000_000;

/** The prices of the row's config; no two are for one model of one provider. */
export class ConfiguredPriceTable implements PriceTable {
  readonly #prices: readonly ModelPrice[];

  constructor(prices: readonly ModelPrice[]) {
    this.#prices = prices;
  }

  priceOf(provider: string, model: string): ModelPrice | undefined {
    return this.#prices.find((price) => price.provider === provider && price.model === model);
  }

  costOf(provider: string, model: string, usage: TokenUsage): Cost | undefined {
    const price = this.priceOf(provider, model);
    if (price === undefined) return undefined;
    const { input, output, cacheRead = input, cacheWrite = input } = price.perMillion;
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const millionths =
      inputTokens * input + outputTokens * output + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite;
    return { amount: millionths / MILLION, currency: price.currency };
  }
}
