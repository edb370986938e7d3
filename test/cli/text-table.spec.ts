import { expect } from 'chai';
import { moneyText, sizeText, textFacts, textTable, timeText } from '../../src/cli/text-table.js';

describe('text for people', () => {
  it('aligns columns by characters, and pads no line at its end', () => {
    expect(
      textTable(
        ['A', 'LONG HEAD', 'C'],
        [
          ['🔥🔥🔥', 'x', ''],
          ['a', 'much longer cell', 'c'],
        ],
      ),
    ).to.equal('A    LONG HEAD         C\n🔥🔥🔥  x\na    much longer cell  c\n');
    expect(
      textFacts([
        ['a', '1'],
        ['longer', undefined],
        ['bcd', '2'],
      ]),
    ).to.equal('a    1\nbcd  2\n');
  });

  it('shows what would steer a terminal as code points', () => {
    expect(textTable(['A'], [['\u001b[2J\r\n\u009b\u202e\u200b\ud800é']])).to.equal(
      'A\n\\u{1b}[2J\\u{d}\\u{a}\\u{9b}\\u{202e}\\u{200b}\\u{d800}é\n',
    );
  });

  const sizes: readonly [number, string][] = [
    [0, '0 B'],
    [1, '1 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [10 * 1024, '10 KiB'],
    [1024 ** 2, '1.0 MiB'],
    [20 * 1024 ** 3, '20 GiB'],
    [5000 * 1024 ** 4, '5000 TiB'],
  ];
  for (const [bytes, text] of sizes) it(`says ${text}`, () => expect(sizeText(bytes)).to.equal(text));

  const amounts: readonly [number, string][] = [
    [0, '0 USD'],
    [0.00074, '0.0007400 USD'],
    [0.5, '0.5000 USD'],
    [1, '1.00 USD'],
    [12.345, '12.35 USD'],
    [1e-15, '0.000000000000 USD'],
  ];
  for (const [amount, text] of amounts) {
    it(`says ${text}`, () => expect(moneyText({ amount, currency: 'USD' })).to.equal(text));
  }

  it('tells times in UTC, and does not fail on none', () => {
    expect(timeText(1760000000999)).to.equal('2025-10-09T08:53:20Z');
    expect(timeText(Number.MAX_SAFE_INTEGER)).to.equal('?');
  });
});
