import { expect } from 'chai';
import * as fc from 'fast-check';
import { MASK, secretMasker } from '../../src/base/index.js';
import { runs } from '../support/runs.js';

describe('secretMasker', () => {
  const cases: readonly (readonly [env: Record<string, string | undefined>, text: string, masked: string])[] = [
    [{ API_KEY: 'sk-123456' }, 'key sk-123456, again sk-123456.', 'key [redacted], again [redacted].'],
    [{ HOME: '/home/somebody' }, 'in /home/somebody', 'in /home/somebody'],
    [{ API_KEY: 'short' }, 'short', 'short'],
    [{ API_KEY: undefined, TOKEN: '' }, 'text', 'text'],
    [{ A_KEY: 'sk-123456', B_KEY: 'sk-123456789' }, 'sk-123456789 sk-123456', '[redacted] [redacted]'],
    [{ DB_PASSWORD: 'a"b\\c.*+?^$' }, 'raw a"b\\c.*+?^$ json a\\"b\\\\c.*+?^$', 'raw [redacted] json [redacted]'],
  ];
  for (const [env, text, masked] of cases) {
    it(`makes ${JSON.stringify(text)} ${JSON.stringify(masked)}`, () => {
      expect(secretMasker(env)(text)).to.equal(masked);
    });
  }

  it('leaves no secret, and all that is none', () => {
    const secret = fc.string({
      minLength: 8,
      maxLength: 12,
      unit: fc.constantFrom('a', 'b', '"', '\\', '.', '$', '['),
    });
    const other = fc.string({ unit: fc.constantFrom('x', 'y', ' ', '\n') });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(other, { maxLength: 5 }),
        (secrets, others) => {
          const env = Object.fromEntries(secrets.map((value, index) => [`KEY_${index}`, value]));
          const mask = secretMasker(env);
          const text = others.flatMap((piece, index) => [piece, secrets[index % secrets.length] ?? '']).join('|');
          const masked = mask(text);
          for (const value of secrets) expect(masked.includes(value)).to.equal(false);
          expect(masked.replaceAll(MASK, '').replaceAll('|', '')).to.equal(others.join(''));
          const json = mask(JSON.stringify({ secrets }));
          expect(JSON.parse(json)).to.deep.equal({ secrets: secrets.map(() => MASK) });
        },
      ),
      runs(300),
    );
  });
});
