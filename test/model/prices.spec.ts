import { expect } from 'chai';
import { assert, nat, property } from 'fast-check';
import { Scope } from '../../src/kernel/index.js';
import { PriceTable } from '../../src/model/index.js';
import { modelModule } from '../../src/model/model.module.js';
import { rejectionOf } from '../support/rejection-of.js';
import { runs } from '../support/runs.js';

async function tableOf(config: unknown): Promise<PriceTable> {
  const scope = Scope.root('test');
  const { runtime } = await modelModule.configure(config);
  if (runtime !== undefined) await scope.load(runtime);
  return scope.get(PriceTable);
}

const flash = { provider: 'p', model: 'm', currency: 'USD', perMillion: { input: 2, output: 8, cacheRead: 0.5 } };

describe('prices of the row llm (decision 29)', () => {
  it('are none by default, so costs are unknown', async () => {
    const table = await tableOf(undefined);
    expect(table.priceOf('p', 'm')).to.equal(undefined);
    expect(table.costOf('p', 'm', { inputTokens: 1, outputTokens: 1 })).to.equal(undefined);
  });

  it('are for one model of one provider', async () => {
    const table = await tableOf({ prices: [flash, { ...flash, provider: 'q', currency: 'EUR' }] });
    const usage = { inputTokens: 1_000_000, outputTokens: 500_000 };
    expect(table.costOf('p', 'm', usage)).to.deep.equal({ amount: 6, currency: 'USD' });
    expect(table.costOf('q', 'm', usage)).to.deep.equal({ amount: 6, currency: 'EUR' });
    expect(table.costOf('p', 'n', usage)).to.equal(undefined);
    expect(table.priceOf('p', 'm')).to.deep.equal(flash);
  });

  it('charge each token once: reasoning is output, a cache without a price is input', async () => {
    const { cacheRead, ...plain } = flash.perMillion;
    const table = await tableOf({ prices: [flash, { ...flash, model: 'plain', perMillion: plain }] });
    assert(
      property(nat(), nat(), nat(), nat(), (inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens) => {
        const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens: outputTokens };
        for (const [model, forCache] of [
          ['m', cacheRead],
          ['plain', plain.input],
        ] as const) {
          const other = plain.input * (inputTokens + cacheWriteTokens) + plain.output * outputTokens;
          const expected = (other + forCache * cacheReadTokens) / 1e6;
          expect(table.costOf('p', model, usage)?.amount).to.be.closeTo(expected, expected * 1e-9);
        }
      }),
      runs(200),
    );
  });

  const wrong: readonly [string, unknown, string][] = [
    ['no list', {}, 'prices must be a list'],
    ['a scalar', [5], 'prices[0] must be a mapping'],
    ['no model', [{ ...flash, model: undefined }], 'prices[0]: model should not be empty'],
    [
      'a currency in words',
      [{ ...flash, currency: 'dollars' }],
      'prices[0]: currency must be three capital letters, as USD',
    ],
    ['no amounts', [{ ...flash, perMillion: undefined }], 'prices[0]: perMillion must be an object'],
    [
      'a negative amount',
      [{ ...flash, perMillion: { input: -1, output: 1 } }],
      'prices[0].perMillion: input must not be less than 0',
    ],
    [
      'an amount as text',
      [{ ...flash, perMillion: { input: 1, output: '1' } }],
      'prices[0].perMillion: output must be a number conforming to the specified constraints',
    ],
    [
      'an unknown amount',
      [{ ...flash, perMillion: { input: 1, output: 1, cache: 1 } }],
      'prices[0].perMillion: property cache should not exist',
    ],
    ['an unknown key', [{ ...flash, price: 1 }], 'prices[0]: property price should not exist'],
    ['the same model twice', [flash, { ...flash }], 'prices[1]: provider "p", model "m" has a price already'],
  ];
  for (const [what, prices, message] of wrong) {
    it(`refuse ${what}`, async () => {
      const error = await rejectionOf(tableOf({ prices }));
      expect(error).to.have.property('code', 'INVALID_CONFIG');
      expect((error as Error).message).to.equal(`prices: ${message}`);
    });
  }
});
