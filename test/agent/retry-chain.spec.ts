import { expect } from 'chai';
import { policyKey, RetryChain, StepRetries } from '../../src/agent/retry-chain.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../src/model/index.js';
import type { LlmFailure } from '../../src/protocol/index.js';

/** The delays that a chain gives for these failures, each `after` milliseconds behind the one before. */
function delays(
  policy: Partial<RetryPolicy>,
  failures: readonly Partial<LlmFailure>[],
  { random = 0.5, after = 0 } = {},
): readonly (number | undefined)[] {
  let now = 1_000;
  const chain = new RetryChain({ ...DEFAULT_RETRY_POLICY, ...policy }, { random: () => random, now: () => now });
  return failures.map((failure) => {
    const next = chain.next({ message: 'x', code: 'SERVER', ...failure });
    now += after;
    return next?.delayMs;
  });
}

const times = (count: number, failure: Partial<LlmFailure> = {}): Partial<LlmFailure>[] => Array(count).fill(failure);

describe('RetryChain', () => {
  it('doubles the delay up to its cap, as often as the policy says', () => {
    expect(delays({ maxRetries: 7 }, times(8))).to.deep.equal([
      500,
      1_000,
      2_000,
      4_000,
      8_000,
      10_000,
      10_000,
      undefined,
    ]);
  });

  for (const [random, first, sixth] of [
    [0, 450, 9_000],
    [0.999_999, 550, 10_000],
  ] as const) {
    it(`varies the delay, never beyond the cap: ${random}`, () => {
      const given = delays({ maxRetries: 6 }, times(6), { random });
      expect([given[0], given[5]]).to.deep.equal([first, sixth]);
    });
  }

  it('waits exactly as long as the provider asks, within the cap', () => {
    const asked = { code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 7_000 };
    expect(delays({}, [asked, {}], { random: 0 })).to.deep.equal([7_000, 900]);
  });

  it('gives up when the provider asks for more, and in mode always waits its own way', () => {
    const asked = { code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 10_001 };
    expect(delays({}, [asked])).to.deep.equal([undefined]);
    expect(delays({ mode: 'always' }, [asked])).to.deep.equal([500]);
  });

  for (const code of ['AUTH', 'QUOTA', 'INVALID_REQUEST', 'CONTEXT_WINDOW_EXCEEDED', 'MALFORMED_RESPONSE', 'UNKNOWN']) {
    it(`does not retry ${code}, but in mode always`, () => {
      expect(delays({}, [{ code }])).to.deep.equal([undefined]);
      expect(delays({ mode: 'always', maxRetries: 0 }, times(20, { code }))).not.to.include(undefined);
    });
  }

  it('asks an empty answer again once, whatever is left (E3)', () => {
    expect(delays({}, [{ code: 'EMPTY_RESPONSE' }, { code: 'EMPTY_RESPONSE' }])).to.deep.equal([500, undefined]);
  });

  for (const overload of [{ status: 503 }, { status: 529 }, { status: 429, code: 'RATE_LIMIT' }]) {
    it(`retries an overload for two minutes, not five times: ${JSON.stringify(overload)} (H9)`, () => {
      const given = delays({}, times(30, overload), { after: 10_000 });
      // At 110 s the next ten would end in time, at 120 s they would not.
      expect(given.filter((delay) => delay !== undefined)).to.have.lengthOf(12);
      expect(given[11]).to.equal(10_000);
    });
  }

  it('counts overloads and other failures apart', () => {
    const given = delays({ maxRetries: 1 }, [{ status: 503 }, {}, { status: 503 }, {}]);
    expect(given.map((delay) => delay !== undefined)).to.deep.equal([true, true, true, false]);
  });

  it('numbers its retries from 1, and says how many there can be', () => {
    const chain = new RetryChain(DEFAULT_RETRY_POLICY);
    const failure = { message: 'x', code: 'SERVER' };
    expect(chain.next(failure)).to.deep.include({ retry: 1, maxRetries: 5 });
    expect(chain.next(failure)).to.deep.include({ retry: 2, maxRetries: 5 });
    expect(chain.next({ ...failure, status: 503 })).to.have.property('retry', 3);
    expect(chain.next({ ...failure, status: 503 })).not.to.have.property('maxRetries');
  });
});

describe('StepRetries', () => {
  it('has one chain for each provider and policy', () => {
    const retries = new StepRetries();
    const other = { ...DEFAULT_RETRY_POLICY, maxRetries: 1 };
    const chain = retries.chain('a', DEFAULT_RETRY_POLICY);
    expect(retries.chain('a', { ...DEFAULT_RETRY_POLICY })).to.equal(chain);
    expect(retries.chain('b', DEFAULT_RETRY_POLICY)).not.to.equal(chain);
    expect(retries.chain('a', other)).not.to.equal(chain);
    expect(policyKey(other)).not.to.equal(policyKey(DEFAULT_RETRY_POLICY));
  });
});
