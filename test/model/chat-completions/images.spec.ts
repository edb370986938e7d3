import { expect } from 'chai';
import fc from 'fast-check';
import type { AttachmentStore } from '../../../src/attachment/index.js';
import { CodedError } from '../../../src/base/index.js';
import { type ImageLimits, imagesIn, offloadImages } from '../../../src/model/chat-completions/images.js';
import type { CallConfig, ImageAttachmentRef, ImageBlock, Message } from '../../../src/protocol/index.js';
import { assistant, collect, finishOf, toolResult, user } from '../../support/model-request.js';
import { runs } from '../../support/runs.js';
import { KEY, useDeepSeek } from '../deepseek/deepseek-fixture.js';

function image(name: string, bytes = 3): ImageBlock {
  return {
    type: 'image',
    attachment: { attachmentId: `sha256:${name}`, mediaType: 'image/png', bytes, width: 40, height: 30 },
  };
}
const left = (name: string): object => ({ type: 'text', text: `[image left out: sha256:${name}]` });
const called = (id: string): Message => assistant({ type: 'tool-call', id, name: 'shot', arguments: '{}' });

describe('offloadImages', () => {
  const limits: ImageLimits = {
    maxInlineRequestImageBytes: 100,
    inlineImageOffloadByteQuantum: 50,
    maxImagesPerRequest: 10,
    imageOffloadCountQuantum: 4,
  };

  it('leaves a request within its limits as it is', () => {
    const messages = [user(image('a', 60)), toolResult('c', image('b', 40))];
    expect(offloadImages(messages, limits)).to.equal(messages);
  });

  it('replaces the oldest, those of tool results too, until a whole quantum of bytes is gone', () => {
    const messages = [
      user('see', image('a', 30)),
      toolResult('c', image('b', 30), image('c', 30)),
      user(image('d', 11)),
    ];
    const [first, second, third] = offloadImages(messages, limits);
    expect(first?.content).to.deep.equal([{ type: 'text', text: 'see' }, left('a')]);
    expect(second?.content).to.have.deep.nested.property('[0].content', [left('b'), image('c', 30)]);
    expect(third?.content).to.deep.equal([image('d', 11)]);
  });

  it('replaces the oldest by whole quanta of their number', () => {
    const names = Array.from({ length: 11 }, (_, at) => `${at}`);
    const kept = imagesIn(offloadImages([user(...names.map((name) => image(name, 1)))], limits));
    expect(kept.map(({ attachment }) => attachment.attachmentId)).to.deep.equal(
      names.slice(4).map((name) => `sha256:${name}`),
    );
  });

  it('keeps any request within its limits, and its beginning while a quantum lasts', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 30 }), (sizes) => {
        const messages = sizes.map((bytes, at) => user(image(`${at}`, bytes)));
        const kept = imagesIn(offloadImages(messages, limits));
        const bytes = kept.reduce((sum, { attachment }) => sum + attachment.bytes, 0);
        expect(bytes).to.be.at.most(limits.maxInlineRequestImageBytes);
        expect(kept.length).to.be.at.most(limits.maxImagesPerRequest);
        // The youngest stay, and no more go than a quantum and one image beyond what is too much.
        expect(kept).to.deep.equal(imagesIn(messages).slice(sizes.length - kept.length));
        const gone = sizes.length - kept.length;
        if (gone > 0) {
          const total = sizes.reduce((sum, size) => sum + size, 0);
          const goneBytes = sizes.slice(0, gone - 1).reduce((sum, size) => sum + size, 0);
          const tooMany = sizes.length - limits.maxImagesPerRequest;
          expect(
            goneBytes < total - limits.maxInlineRequestImageBytes + limits.inlineImageOffloadByteQuantum ||
              gone - 1 < tooMany + limits.imageOffloadCountQuantum,
          ).to.equal(true);
        }
      }),
      runs(200),
    );
  });
});

describe('images of a call', () => {
  const deepseek = useDeepSeek();
  const seeing: CallConfig = { provider: 'deepseek-official', model: 'deepseek-v4-flash-vision-exp' };
  /** Holds every image, as the bytes of its id; counts reads. */
  class FakeStore implements AttachmentStore {
    readonly reads: string[] = [];
    save(): Promise<readonly ImageAttachmentRef[]> {
      throw new Error('nothing is saved');
    }
    async read({ attachmentId }: ImageAttachmentRef): Promise<Buffer> {
      this.reads.push(attachmentId);
      if (attachmentId === 'sha256:gone') throw new CodedError('ATTACHMENT_NOT_FOUND', 'no such image');
      return Buffer.from(attachmentId);
    }
  }
  const url = (name: string): string => `data:image/png;base64,${Buffer.from(`sha256:${name}`).toString('base64')}`;

  it('go inline to a model that reads images; each is read once', async () => {
    const store = new FakeStore();
    deepseek.server.answer({ text: 'ok' });
    const messages = [user('see', image('a')), called('c-1'), toolResult('c-1', image('b'), image('a'))];
    await collect(deepseek.caller({}, seeing, store)({ messages }));
    const { body } = await deepseek.server.request(0);
    const urls = body.messages.flatMap(({ content }: { content: unknown }) =>
      (Array.isArray(content) ? content : []).flatMap((part) => part.image_url?.url ?? []),
    );
    expect(urls).to.deep.equal([url('a'), url('b'), url('a')]);
    expect(store.reads).to.deep.equal(['sha256:a', 'sha256:b']);
  });

  it('take the detail of their model', async () => {
    deepseek.server.answer({ text: 'ok' });
    const models = [{ id: 'eye', inputModalities: ['text', 'image'], imageDetail: 'low' }] as const;
    const route = { ...seeing, model: 'eye' };
    await collect(deepseek.caller({ models }, route, new FakeStore())({ messages: [user(image('a'))] }));
    const { body } = await deepseek.server.request(0);
    expect(body.messages[0].content[1].image_url).to.deep.equal({ url: url('a'), detail: 'low' });
  });

  it('leave a request that holds too many of them', async () => {
    const store = new FakeStore();
    deepseek.server.answer({ text: 'ok' });
    const config = { maxImagesPerRequest: 1, imageOffloadCountQuantum: 1 };
    await collect(deepseek.caller(config, seeing, store)({ messages: [user(image('a'), image('b'))] }));
    const { body } = await deepseek.server.request(0);
    expect(body.messages[0].content[0]).to.deep.equal(left('a'));
    expect(store.reads).to.deep.equal(['sha256:b']);
  });

  it('are a line of text for a model that is known to read none', async () => {
    const store = new FakeStore();
    deepseek.server.answer({ text: 'ok' });
    await collect(deepseek.caller({}, undefined, store)({ messages: [user('see ', image('a'))] }));
    const { body } = await deepseek.server.request(0);
    expect(body.messages).to.deep.equal([{ role: 'user', content: 'see [image left out: sha256:a]' }]);
    expect(store.reads).to.deep.equal([]);
  });

  const refusals: readonly (readonly [what: string, model: string, messages: readonly Message[], message: string])[] = [
    ...[user(image('a')), toolResult('c-1', image('a'))].map(
      (message) =>
        [
          'a model that nobody knows to read any',
          'unlisted',
          [called('c-1'), message],
          'DeepSeek model "unlisted" does not accept image input.',
        ] as const,
    ),
    [
      'an answer',
      seeing.model,
      [assistant(image('a'))],
      `DeepSeek model "${seeing.model}" accepts images in prompts and tool results only.`,
    ],
  ];
  for (const [what, model, messages, message] of refusals) {
    it(`are refused in ${what}, before key and network are looked for`, async () => {
      delete process.env[KEY];
      const chunks = await collect(deepseek.caller({}, { ...seeing, model }, new FakeStore())({ messages }));
      expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure: { code: 'UNSUPPORTED_CONTENT', message } });
      expect(deepseek.server.opened).to.equal(0);
    });
  }

  it('are refused where no store holds them', async () => {
    const chunks = await collect(deepseek.caller({}, seeing)({ messages: [user(image('a'))] }));
    const message = 'image input needs an attachment store: add a row of the module "attachment-local"';
    expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure: { code: 'UNSUPPORTED_CONTENT', message } });
  });

  it('fail with the code of the store when they cannot be read', async () => {
    const chunks = await collect(deepseek.caller({}, seeing, new FakeStore())({ messages: [user(image('gone'))] }));
    const failure = { code: 'ATTACHMENT_NOT_FOUND', message: 'no such image' };
    expect(finishOf(chunks)).to.deep.equal({ kind: 'error', failure });
    expect(deepseek.server.opened).to.equal(0);
  });
});
