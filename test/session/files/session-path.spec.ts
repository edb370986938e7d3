import { expect } from 'chai';
import { array, assert, constantFrom, integer, oneof, property } from 'fast-check';
import { projectDirectoryName, sessionDirectoryName } from '../../../src/session/files/session-path.js';
import { runs } from '../../support/runs.js';

/** Any UTF-16, lone surrogates included, rich in what the encoding treats specially. */
const unit = oneof(
  constantFrom('~', '.', '/', '0', '2', 'E', 'D', '8'),
  integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);
const ids = array(unit, { minLength: 1, maxLength: 8 }).map((units) => units.join(''));

describe('sessionDirectoryName', () => {
  const names: readonly (readonly [string, string])[] = [
    ['abc.DEF_0-9', 'abc.DEF_0-9'],
    ['../x:1', '..~002Fx~003A1'],
    ['../../x', '..~002F..~002Fx'],
    ['/etc/passwd', '~002Fetc~002Fpasswd'],
    ['a/b', 'a~002Fb'],
    ['C:\\x', 'C~003A~005Cx'],
    ['CON', 'CON'],
    ['.', '~002E'],
    ['..', '~002E~002E'],
    ['...', '...'],
    ['~002E', '~007E002E'],
    ['a\0b\n', 'a~0000b~000A'],
    ['台', '~53F0'],
    ['🔥', '~D83D~DD25'],
    ['\ud83d', '~D83D'],
    ['é', '~00E9'],
  ];
  for (const [id, name] of names) {
    it(`puts ${JSON.stringify(id)} into ${name} (G10, J1)`, () => {
      expect(sessionDirectoryName(id)).to.equal(name);
    });
  }

  it('refuses the empty id', () => {
    expect(() => sessionDirectoryName(''))
      .to.throw('empty')
      .with.property('code', 'INVALID_SESSION_ID');
  });

  it('keeps ids apart, lone surrogates included, in names that stay inside their directory', () => {
    const seen = new Map<string, string>();
    assert(
      property(ids, (id) => {
        const name = sessionDirectoryName(id);
        expect(name).to.match(/^[A-Za-z0-9._~-]{1,255}$/);
        expect(name).to.not.be.oneOf(['.', '..']);
        expect(seen.get(name) ?? id).to.equal(id);
        seen.set(name, id);
      }),
      runs(2000),
    );
  });

  it('shortens only names over 200 characters, and keeps them apart by a hash of the whole (J2)', () => {
    const longest = 'x'.repeat(200);
    expect(sessionDirectoryName(longest)).to.equal(longest);
    const names = [201, 256, 300, 1024].map((length) => sessionDirectoryName('x'.repeat(length)));
    expect(new Set(names).size).to.equal(names.length);
    for (const name of names) expect(name).to.match(/^x{160}~~[0-9a-f]{32}$/);
    const wide = sessionDirectoryName('台'.repeat(341));
    expect(wide).to.have.length(194);
    expect(wide).to.not.equal(sessionDirectoryName('台'.repeat(340)));
  });
});

describe('projectDirectoryName', () => {
  const names: readonly (readonly [string | undefined, string])[] = [
    [undefined, '_no-cwd'],
    ['/srv/my app', '--srv-my~0020app--'],
    ['C:\\work\\x', '--C-work-x--'],
    ['/a//b\\/:c', '--a-b-c--'],
    ['/', '--root--'],
    ['/-x', '--x--'],
    ['/..', '--..--'],
    ['/tilde~', '--tilde~007E--'],
    ['/é\ud800', '--~00E9~D800--'],
    [`/${'y'.repeat(400)}`, `--${'y'.repeat(251)}--`],
  ];
  for (const [cwd, name] of names) {
    it(`puts ${JSON.stringify(cwd)?.slice(0, 30)} into ${name.slice(0, 30)}`, () => {
      expect(projectDirectoryName(cwd)).to.equal(name);
    });
  }
});
