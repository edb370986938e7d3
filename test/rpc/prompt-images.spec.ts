import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { array, assert, asyncProperty, constantFrom, record } from 'fast-check';
import type { Row } from '../../src/profile/index.js';
import type { ImageBlock, JsonRpcResponseError, SessionEvent } from '../../src/protocol/index.js';
import { imageBlock, imageBytes, paddedImage } from '../support/images.js';
import { InProcess, memoryProfile } from '../support/in-process.js';
import { rejectionOf } from '../support/rejection-of.js';
import { runs } from '../support/runs.js';
import { useTempDir } from '../support/temp-dir.js';

const text = (value: string) => ({ type: 'text', text: value });

describe('session/prompt with images', () => {
  const dir = useTempDir();
  let host: InProcess;

  async function boot(...rows: readonly Row[]): Promise<void> {
    host = await InProcess.boot(await memoryProfile(rows));
    await host.initialize();
  }
  const storing = (config: object = {}): Row => ({
    id: 'attachment-local',
    module: 'attachment-local',
    config: { root: join(dir.path, 'attachments'), ...config },
  });
  const prompt = (sessionId: string, ...contentBlocks: readonly object[]) =>
    host.client.request('session/prompt', { sessionId, contentBlocks }) as Promise<{ messageId: string }>;
  const refusal = async (...contentBlocks: readonly object[]) =>
    (await rejectionOf(prompt('s', ...contentBlocks))) as JsonRpcResponseError;
  const events = (session: string): SessionEvent[] =>
    host.notifications.flatMap(({ method, params }) =>
      method === 'session.event' && params.sessionId === session ? [params.event] : [],
    );
  const inserted = (session: string) =>
    events(session).flatMap(({ type, data }) =>
      type === 'agent/inbox/spliced'
        ? (data as unknown as { inserted: { id: string; content: readonly ImageBlock[] }[] }).inserted
        : [],
    );
  const stored = () => readdir(dir.path, { recursive: true });

  afterEach(() => host.runtime.close());

  it('queues references in the place of the images, and keeps the rest as it is', async () => {
    await boot(storing());
    const foreign = { type: 'x-note', data: 'kept', deep: { list: [1] } };
    const png = imageBytes('png', 3, 2);
    const gif = imageBytes('gif', 5, 4);
    const unknown = { ...imageBlock(png), name: 'n', attachment: { attachmentId: 'mine' }, constructor: { a: 1 } };
    await prompt('s', text('first'), unknown, foreign, imageBlock(gif, 'image/gif'), imageBlock(png), text('last'));
    const content = inserted('s')[0]?.content ?? [];
    expect(content.map(({ type }) => type)).to.deep.equal(['text', 'image', 'x-note', 'image', 'image', 'text']);
    expect(content[2]).to.deep.equal(foreign);
    const size = { width: 3, height: 2, bytes: png.length, mediaType: 'image/png' };
    expect(content[1]).to.have.all.keys('type', 'attachment');
    expect(content[1]?.attachment).to.have.all.keys('attachmentId', ...Object.keys(size));
    expect(content[1]?.attachment).to.deep.include(size);
    expect(content[4]).to.deep.equal(content[1]);
    expect(content[3]?.attachment).to.deep.include({ width: 5, height: 4, mediaType: 'image/gif' });
  });

  it('has the pixels in no event', async () => {
    await boot(storing());
    const bytes = paddedImage('png', 3000);
    await prompt('s', text('look'), imageBlock(bytes));
    await host.idle('s');
    const told = JSON.stringify(host.notifications);
    expect(told).to.contain('sha256:');
    const pixels = bytes.toString('base64');
    for (let at = 0; at + 40 <= pixels.length; at += 40) expect(told).not.to.contain(pixels.slice(at, at + 40));
  });

  it('has every image on disk when the receipt comes', async () => {
    await boot(storing());
    const bytes = paddedImage('jpeg', 100_000);
    await prompt('s', imageBlock(bytes, 'image/jpeg'));
    const files = await stored();
    const object = files.find((file) => /\/objects\/[0-9a-f]{2}\/[0-9a-f]{64}$/.test(file));
    expect(await readFile(join(dir.path, object ?? ''))).to.deep.equal(bytes);
  });

  it('queues the prompts of a session in their order, whatever they bring', async () => {
    await boot(storing());
    const kinds = {
      text: (name: string) => [text(name)],
      image: (name: string) => [text(name), imageBlock(Buffer.concat([imageBytes(), Buffer.from(name)]))],
      broken: (name: string) => [text(name), imageBlock(Buffer.from(name))],
    };
    let round = 0;
    const kind = constantFrom<keyof typeof kinds>('text', 'text', 'image', 'broken');
    const prompts = array(record({ kind, session: constantFrom('a', 'b') }), { minLength: 2, maxLength: 12 });
    await assert(
      asyncProperty(prompts, async (sent) => {
        round += 1;
        const answers = await Promise.allSettled(
          sent.map(({ kind, session }, index) => prompt(`${session}${round}`, ...kinds[kind](`${round}.${index}`))),
        );
        expect(answers.map(({ status }) => status === 'rejected')).to.deep.equal(
          sent.map(({ kind }) => kind === 'broken'),
        );
        for (const session of ['a', 'b']) {
          const accepted = answers.flatMap((answer, index) =>
            answer.status === 'fulfilled' && sent[index]?.session === session ? [answer.value.messageId] : [],
          );
          expect(inserted(`${session}${round}`).map(({ id }) => id)).to.deep.equal(accepted);
        }
      }),
      runs(15),
    );
  });

  it('keeps a prompt behind an image that is still being stored when the one before it is done', async () => {
    await boot(storing());
    const small = prompt('s', imageBlock());
    const large = prompt('s', imageBlock(paddedImage('png', 8_000_000)));
    await small;
    const receipts = await Promise.all([small, large, prompt('s', text('last'))]);
    expect(inserted('s').map(({ id }) => id)).to.deep.equal(receipts.map(({ messageId }) => messageId));
  });

  it('refuses images without a store, each by its place, and takes the next prompt', async () => {
    await boot();
    const error = await refusal(text('a'), imageBlock(), text('b'), imageBlock());
    expect(error.code).to.equal(-32602);
    expect(error.message).to.equal('SDK image prompt requires an attachment store');
    expect(error.data).to.deep.equal({
      violations: ['contentBlocks[1]', 'contentBlocks[3]'].map((path) => ({
        path,
        constraint: 'attachmentStore',
        message: 'SDK image prompt requires an attachment store',
      })),
    });
    expect(host.notifications).to.deep.equal([]);
    await prompt('s', text('works'));
  });

  const shapes: readonly [string, object, readonly string[]][] = [
    ['no members', {}, ['data', 'mimeType']],
    ['data that is no string', { data: [1], mimeType: 'image/png' }, ['data']],
    ['a type that is no string', { data: '', mimeType: null }, ['mimeType']],
    ['a reference, known or not', { attachment: { attachmentId: `sha256:${'0'.repeat(64)}` } }, ['data', 'mimeType']],
  ];
  for (const [what, members, paths] of shapes) {
    it(`refuses an image with ${what} before anything is stored`, async () => {
      await boot(storing());
      const error = await refusal(imageBlock(), { type: 'image', ...members });
      const { violations } = error.data as unknown as { violations: { path: string; message: string }[] };
      expect(violations.map(({ path }) => path)).to.deep.equal(paths.map((member) => `contentBlocks[1].${member}`));
      expect(error.message).to.match(/^contentBlocks\[1\]\.\w+ must be a string: a prompt carries its images inline/);
      expect(await stored()).to.deep.equal([]);
    });
  }

  it('answers with the place of the block, the code and the reason, and has stored nothing', async () => {
    await boot(storing({ maxImages: 3 }));
    const good = imageBlock();
    const cases: readonly [readonly object[], string, string][] = [
      [[text('a'), good, { ...good, data: '!' }], 'contentBlocks[2].data', 'INVALID_IMAGE_BASE64'],
      [[good, text('a'), { ...good, mimeType: 'image/tiff' }], 'contentBlocks[2].mimeType', 'UNSUPPORTED_IMAGE_TYPE'],
      [[text('a'), { ...good, mimeType: 'image/gif' }], 'contentBlocks[1].mimeType', 'IMAGE_TYPE_MISMATCH'],
      [[text('a'), imageBlock(imageBytes('png', 9999, 1))], 'contentBlocks[1].data', 'IMAGE_DIMENSION_TOO_LARGE'],
      [[good, text('a'), good, good, good], 'contentBlocks', 'TOO_MANY_IMAGES'],
    ];
    for (const [blocks, path, constraint] of cases) {
      const error = await refusal(...blocks);
      expect(error.code).to.equal(-32602);
      const { violations } = error.data as unknown as { violations: object[] };
      expect(violations).to.deep.equal([{ path, constraint, message: error.message }]);
      expect(error.message.startsWith(`${path}: `)).to.equal(true);
    }
    expect(await stored()).to.deep.equal([]);
    expect(host.notifications).to.deep.equal([]);
  });

  it('answers with a plain error when the store fails', async () => {
    await boot(storing({ root: import.meta.filename }));
    const error = await refusal(imageBlock());
    expect(error.code).to.equal(-32603);
    expect(error.message).to.match(/^images cannot be stored in .*(ENOTDIR|EEXIST)/);
    expect(host.notifications).to.deep.equal([]);
  });

  it('refuses, in order, what a shutdown overtakes', async () => {
    await boot(storing());
    const answers = await Promise.allSettled([
      prompt('s', imageBlock()),
      prompt('s', text('behind it')),
      host.client.request('shutdown'),
    ]);
    expect(answers[2]).to.deep.equal({ status: 'fulfilled', value: {} });
    for (const answer of answers.slice(0, 2)) {
      expect((answer as PromiseRejectedResult).reason).to.have.property('message', 'SDK server is shutting down');
    }
  });
});
