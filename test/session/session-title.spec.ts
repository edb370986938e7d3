import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import type { SessionEventOf, UserMessage } from '../../src/protocol/index.js';
import { fallbackTitle } from '../../src/session/fallback-title.js';
import { type Session, SessionParticipant } from '../../src/session/index.js';
import { sessionTitleModule } from '../../src/session/session-title.module.js';
import { human, SessionWorld } from '../support/session-world.js';

describe('fallbackTitle', () => {
  const titles: readonly (readonly [string, string, string | undefined])[] = [
    ['keeps a short text', 'Count the tests', 'Count the tests'],
    ['takes five words', 'Reply with exactly: SDK snapshot OK', 'Reply with exactly: SDK snapshot'],
    ['collapses whitespace', '  a\n\n b\t\tc\u00a0d  ', 'a b c d'],
    ['cuts at 40 bytes', 'x'.repeat(50), 'x'.repeat(40)],
    ['drops the blank that a cut leaves', `${'x'.repeat(39)} yy`, 'x'.repeat(39)],
    ['cuts between code points of three bytes', '台'.repeat(20), '台'.repeat(13)],
    ['cuts between code points of four bytes', `x${'🔥'.repeat(20)}`, `x${'🔥'.repeat(9)}`],
    ['strips terminal escapes', '\u001b[31mred\u001b[0m \u001b]0;title\u0007text', 'red text'],
    ['strips control characters', 'a\u0000b\u0008c\u007f \u0007 d', 'abc d'],
    ['strips bidi marks', '\u202eabc\u2066 d\u200f', 'abc d'],
    ['replaces lone surrogates', 'a\ud83d b', 'a\ufffd b'],
    ['gives none for blank text', ' \n\t ', undefined],
    ['gives none for controls only', '\u0000\u202e\u001b[1m', undefined],
    ['looks past any length of leading blanks', `${' '.repeat(1_000_000)}hello`, 'hello'],
  ];
  for (const [name, text, title] of titles) {
    it(name, () => {
      expect(fallbackTitle(text, 5, 40)).to.equal(title);
    });
  }

  it('stays inside its bounds and on one clean line', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 80 }), (text) => {
        const title = fallbackTitle(text, 5, 40);
        if (title === undefined) return;
        expect(Buffer.byteLength(title)).to.be.within(1, 40);
        expect(title.split(' ')).to.have.length.within(1, 5);
        expect(title.isWellFormed()).to.equal(true);
        expect(title).to.equal(title.trim());
        expect(title).to.not.match(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('session-title module', () => {
  async function titledSession(
    config?: object,
  ): Promise<{ session: Session; titles: SessionEventOf<'session/title'>[] }> {
    const titles: SessionEventOf<'session/title'>[] = [];
    const world = await SessionWorld.withFake([
      { sessionEvent: (_, event) => void (event.type === 'session/title' && titles.push(event)) },
    ]);
    const session = await world.create();
    const { session: part } = await sessionTitleModule.configure(config);
    const scope = world.scope.child('s');
    if (part !== undefined) scope.loadFenced(part, 'session-title');
    session.join(scope.all(SessionParticipant));
    return { session, titles };
  }

  function send(session: Session, message: UserMessage): number {
    return session.append('user/message', message, { surfaceOp: 'append' }).seq;
  }

  it('titles the session right after the first human text, and once only', async () => {
    const { session, titles } = await titledSession();
    send(session, { ...human('note'), source: { kind: 'plugin', plugin: 'p' } });
    send(session, { ...human(''), content: [] });
    send(session, human(' \u0000 '));
    expect(titles).to.deep.equal([]);
    const seq = send(session, {
      ...human('fix'),
      content: [
        { type: 'text', text: 'fix' },
        { type: 'text', text: 'it' },
      ],
    });
    send(session, human('and then this'));
    expect(titles.map((event) => event.data)).to.deep.equal([
      { title: 'fix it', messageSeqs: [seq], source: { kind: 'fallback' } },
    ]);
    expect(titles[0]?.seq).to.equal(seq + 1);
  });

  it('leaves a session alone that has a title', async () => {
    const { session, titles } = await titledSession();
    session.append('session/title', { title: 'mine', messageSeqs: [], source: { kind: 'user' } });
    send(session, human('hello'));
    expect(titles).to.have.length(1);
  });

  it('keeps sessions apart', async () => {
    const [one, two] = [await titledSession(), await titledSession()];
    send(one.session, human('one'));
    send(two.session, human('two'));
    expect([...one.titles, ...two.titles].map((event) => event.data.title)).to.deep.equal(['one', 'two']);
  });

  it('takes its bounds from config, and refuses senseless ones', async () => {
    const { session, titles } = await titledSession({ fallbackMaxWords: 2, fallbackMaxBytes: 8 });
    send(session, human('abcdef ghijkl mnopqr'));
    expect(titles[0]?.data.title).to.equal('abcdef g');
    for (const config of [{ fallbackMaxWords: 0 }, { fallbackMaxBytes: 3 }, { fallbackMaxWords: '5' }, { words: 5 }]) {
      const failure = await sessionTitleModule.configure(config).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(failure).to.have.property('code', 'INVALID_CONFIG');
    }
  });
});
