import { expect } from 'chai';
import { array, assert, nat, property, string } from 'fast-check';
import { TextMap } from '../../../src/model/offline/text-map.js';
import { runs } from '../../support/runs.js';

describe('TextMap', () => {
  const cases: readonly [string, string][] = [
    ['cd /workspace && ls', 'cd /srv/x && ls'],
    ['/workspace/a:/workspace', '/srv/x/a:/srv/x'],
    ['"/workspace"', '"/srv/x"'],
    ['/workspaces/a /workspace-2 /workspace_', '/workspaces/a /workspace-2 /workspace_'],
    ['/home/workspace ~/workspace ./workspace', '/home/workspace ~/workspace ./workspace'],
    ['file:///workspace/a.', 'file:///srv/x/a.'],
    ['/workspace/etc', '/other'],
  ];
  for (const [from, to] of cases) {
    it(`makes ${to} of ${from}`, () => {
      const map = new TextMap([
        ['/workspace', '/srv/x'],
        ['/workspace/etc', '/other'],
      ]);
      expect(map.apply(from)).to.equal(to);
    });
  }

  it('takes signs that mean something in patterns and replacements as they are', () => {
    expect(new TextMap([['C:\\w (1)+', '$&$1']]).apply('at C:\\w (1)+\\x')).to.equal('at $&$1\\x');
  });

  it('changes nothing without pairs', () => {
    expect(
      new TextMap([
        ['', 'x'],
        ['same', 'same'],
      ]).apply('same text'),
    ).to.equal('same text');
  });

  it('gives the same in pieces as at once, in as many pieces', () => {
    const map = new TextMap([
      ['/ab', '/longer'],
      ['/cd', ''],
    ]);
    const piece = string({ unit: 'grapheme-ascii', maxLength: 3 }).map((text) => text.replace(/[^ab]/g, '/'));
    const pieces = array(piece.chain((text) => nat(3).map((n) => (n === 0 ? '/ab' : n === 1 ? ' /cd/' : text))));
    assert(
      property(pieces, (texts) => {
        const mapped = map.applyAcross(texts);
        expect(mapped).to.have.length(texts.length);
        expect(mapped.join('')).to.equal(map.apply(texts.join('')));
      }),
      runs(300),
    );
  });
});
