import { serviceId } from '../kernel/index.js';
import type { TokenUsage } from '../protocol/index.js';

/** What one model of one provider costs (decision 29). */
export interface ModelPrice {
  readonly provider: string;
  readonly model: string;
  /** ISO 4217, as `USD`. */
  readonly currency: string;
  /** Amounts for a million tokens. A cache without a price of its own costs what other input does. */
  readonly perMillion: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
}
/** An amount of money, not rounded. */
export interface Cost {
  readonly amount: number;
  readonly currency: string;
}

/** What the user says that models cost; nothing is known but that (decision 29). */
export interface PriceTable {
  priceOf(provider: string, model: string): ModelPrice | undefined;
  /** Undefined where there is no price. */
  costOf(provider: string, model: string, usage: TokenUsage): Cost | undefined;
}
/** Runtime scope. */
export const PriceTable = serviceId<PriceTable>('PriceTable');
