import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DeepSeekHarness } from '../../src/client/index.js';
import { imageBlock, imageBytes, paddedImage } from '../support/images.js';
import { Lab } from '../support/lab.js';
import type { RawRuntime } from '../support/raw-runtime.js';

const VISION = 'deepseek-v4-flash-vision-exp';
const MB = 1_000_000;
const text = (value: string) => ({ type: 'text', text: value }) as const;

interface Refusal {
  readonly violations: readonly { readonly path: string; readonly constraint: string }[];
}

describe('images, end to end', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.open();
  });
  afterEach(() => lab.close());

  const seeing = (): DeepSeekHarness => lab.harness({ profile: 'sdk', model: VISION });

  async function raw(profile = 'sdk'): Promise<RawRuntime> {
    const runtime = lab.raw({ args: ['--profile', profile] });
    await runtime.request('initialize', { cwd: lab.cwd, provider: 'deepseek-official', model: VISION });
    return runtime;
  }
  const prompt = (id: string, ...contentBlocks: readonly object[]) => ({
    jsonrpc: '2.0',
    id,
    method: 'session/prompt',
    params: { sessionId: 's', contentBlocks },
  });
  /** Names of the stored images and whatever else lies there. */
  async function objects(): Promise<string[]> {
    const entries = await readdir(join(lab.home, 'attachments'), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  it('shows a model the image of a run, and in later turns again', async () => {
    lab.server.answer({ text: 'a cat' }, { text: 'still a cat' });
    const bytes = paddedImage('png', 5000);
    const session = seeing().session();
    const first = await session.run([text('What is this?'), imageBlock(bytes)]);
    expect(first.finalResponse).to.equal('a cat');
    await session.run('Are you sure?');
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    for (const index of [0, 1]) {
      const { body } = await lab.server.request(index);
      const parts = body.messages.find(({ content }: { content: unknown }) => Array.isArray(content)).content;
      expect(parts[0]).to.deep.equal(text('What is this?'));
      const images = parts.filter(({ type }: { type: string }) => type === 'image_url');
      expect(images.map(({ image_url }: { image_url: { url: string } }) => image_url.url)).to.deep.equal([url]);
    }
  });

  it('keeps the pixels out of the log, the wire and the diagnostics', async () => {
    lab.server.answer({ text: 'ok' });
    const bytes = paddedImage('jpeg', 5000);
    const lines: string[] = [];
    const env = { ...lab.env, DSH_LOG_LEVEL: 'debug' };
    const harness = lab.harness({ profile: 'sdk', model: VISION, env, onStderr: (line) => lines.push(line) });
    const { notifications } = await harness.run([imageBlock(bytes, 'image/jpeg')]);
    await harness.close();
    const [log = ''] = await lab.logs();
    const told = [JSON.stringify(notifications), await readFile(log, 'utf8'), lines.join('\n')];
    const pixels = bytes.toString('base64');
    const pieces = Array.from({ length: 100 }, (_, index) => pixels.slice(index * 40, index * 40 + 40));
    expect(told.slice(0, 2).every((place) => place.includes('"attachmentId":"sha256:'))).to.equal(true);
    for (const place of told) expect(pieces.filter((piece) => place.includes(piece))).to.deep.equal([]);
  });

  it('tells a model that reads text only that there was an image', async () => {
    lab.server.answer({ text: 'I see none' });
    await lab.harness({ profile: 'sdk' }).run([text('What is this?'), imageBlock()]);
    const { body } = await lab.server.request(0);
    const sent = JSON.stringify(body);
    expect(sent).to.contain((await objects())[0]);
    expect(sent).not.to.contain(imageBlock().data);
  });

  it('queues prompts of one write in their order, an image before a text', async () => {
    lab.server.answer({ text: 'one' }, { text: 'two' }, { text: 'three' });
    const runtime = await raw();
    const image = imageBlock(paddedImage('png', 2 * MB));
    runtime.write(prompt('1', image), prompt('2', text('second')), prompt('3', text('third'), imageBlock()));
    const receipts = await Promise.all(['1', '2', '3'].map((at) => runtime.frame(({ id }) => id === at)));
    const inserted = runtime.events.flatMap(({ type, data }) =>
      type === 'agent/inbox/spliced' ? (data as { inserted: readonly { id: string }[] }).inserted : [],
    );
    expect(inserted.map(({ id }) => id)).to.deep.equal(receipts.map(({ result }) => result.messageId));
    await runtime.idle('s');
  });

  it('answers an image prompt that a shutdown overtakes, and leaves no half-written image', async () => {
    const runtime = await raw();
    const image = imageBlock(paddedImage('png', 2 * MB));
    runtime.write(prompt('1', image), { jsonrpc: '2.0', id: 'bye', method: 'shutdown' });
    expect((await runtime.frame(({ id }) => id === '1')).error?.message).to.equal('SDK server is shutting down');
    expect((await runtime.frame(({ id }) => id === 'bye')).result).to.deep.equal({});
    expect(await runtime.ended).to.deep.include({ code: 0 });
    expect((await objects()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });

  it('takes no image where the profile has no store (decision 34)', async () => {
    const runtime = await raw('sdk-minimal');
    const { error } = await runtime.call('session/prompt', { sessionId: 's', contentBlocks: [imageBlock()] });
    expect(error).to.deep.include({ code: -32602, message: 'SDK image prompt requires an attachment store' });
  });

  describe('that are no good', () => {
    const png = imageBytes().toString('base64');
    const inline = (data: unknown, mimeType: unknown = 'image/png') => ({ type: 'image', data, mimeType });
    const noise = (size: number) => Buffer.alloc(size, 'no image at all ');
    const jpegOf = (size: number, filler: number) => {
      const bytes = Buffer.alloc(size, filler);
      bytes.set([0xff, 0xd8, 0xff, 0xe0, 0, 2]);
      return bytes.toString('base64');
    };
    /** `[what, blocks, path, constraint]`; made when needed: they are large. */
    const refused: readonly [string, () => readonly unknown[], string, string][] = [
      ['10 MB of noise', () => [inline(noise(10 * MB).toString('base64'))], 'contentBlocks[0].data', 'INVALID_IMAGE'],
      [
        '10 MB that are no base64',
        () => [inline('%'.repeat(10 * MB))],
        'contentBlocks[0].data',
        'INVALID_IMAGE_BASE64',
      ],
      [
        '10 MB of one wrong letter at the end',
        () => [inline(`${'A'.repeat(10 * MB - 1)}-`)],
        'contentBlocks[0].data',
        'INVALID_IMAGE_BASE64',
      ],
      [
        '20 MB of JPEG that never gets to its frame',
        () => [inline(jpegOf(20 * MB, 0), 'image/jpeg')],
        'contentBlocks[0].data',
        'INVALID_IMAGE',
      ],
      ['1,000 images', () => Array(1000).fill(inline(png)), 'contentBlocks', 'TOO_MANY_IMAGES'],
      ['21 images and a text', () => [text('x'), ...Array(21).fill(inline(png))], 'contentBlocks', 'TOO_MANY_IMAGES'],
      ['1,001 images', () => Array(1001).fill(inline(png)), 'contentBlocks', 'arraySize'],
      [
        'an image over 20 MiB',
        () => [inline(paddedImage('png', 20 * 1024 * 1024 + 1).toString('base64'))],
        'contentBlocks[0].data',
        'IMAGE_TOO_LARGE',
      ],
      ['no bytes', () => [inline('')], 'contentBlocks[0].data', 'INVALID_IMAGE'],
      ['one byte', () => [inline('iQ==')], 'contentBlocks[0].data', 'INVALID_IMAGE'],
      ['a signature and nothing else', () => [inline('iVBORw0KGgo=')], 'contentBlocks[0].data', 'INVALID_IMAGE'],
      [
        'another type than declared',
        () => [text('x'), inline(png, 'image/webp')],
        'contentBlocks[1].mimeType',
        'IMAGE_TYPE_MISMATCH',
      ],
      [
        'a type nobody takes',
        () => [inline(png, 'image/svg+xml')],
        'contentBlocks[0].mimeType',
        'UNSUPPORTED_IMAGE_TYPE',
      ],
      ['a type of 1 MB', () => [inline(png, 'x'.repeat(MB))], 'contentBlocks[0].mimeType', 'UNSUPPORTED_IMAGE_TYPE'],
      ['a data URL', () => [inline(`data:image/png;base64,${png}`)], 'contentBlocks[0].data', 'INVALID_IMAGE_BASE64'],
      ['missing padding', () => [inline(png.replace(/=+$/, ''))], 'contentBlocks[0].data', 'INVALID_IMAGE_BASE64'],
      ['superfluous padding', () => [inline(`${png}=`)], 'contentBlocks[0].data', 'INVALID_IMAGE_BASE64'],
      [
        'base64 in lines',
        () => [inline(png.replace(/.{40}/g, '$&\n'))],
        'contentBlocks[0].data',
        'INVALID_IMAGE_BASE64',
      ],
      ['base64 twice', () => [inline(png + png)], 'contentBlocks[0].data', 'INVALID_IMAGE_BASE64'],
      ['bytes in place of base64', () => [inline([...imageBytes()])], 'contentBlocks[0].data', 'isString'],
      [
        'a bomb',
        () => [inline(imageBytes('png', 2 ** 31 - 1, 2 ** 31 - 1).toString('base64'))],
        'contentBlocks[0].data',
        'IMAGE_TOO_MANY_PIXELS',
      ],
      [
        'a long thin bomb',
        () => [inline(imageBytes('png', 2 ** 31 - 1, 1).toString('base64'))],
        'contentBlocks[0].data',
        'IMAGE_TOO_MANY_PIXELS',
      ],
      [
        'a side of 8,193',
        () => [inline(imageBytes('gif', 8193, 1).toString('base64'), 'image/gif')],
        'contentBlocks[0].data',
        'IMAGE_DIMENSION_TOO_LARGE',
      ],
      [
        'one bad image behind nineteen good ones',
        () => [...Array(19).fill(inline(png)), inline('AA==')],
        'contentBlocks[19].data',
        'INVALID_IMAGE',
      ],
      [
        'a reference',
        () => [{ type: 'image', attachment: { attachmentId: `sha256:${'0'.repeat(64)}` } }],
        'contentBlocks[0].data',
        'isString',
      ],
      [
        'a path as reference',
        () => [{ type: 'image', attachment: '/etc/passwd' }],
        'contentBlocks[0].data',
        'isString',
      ],
    ];

    it('are refused by place and code, store nothing, and do not disturb the session', async () => {
      lab.server.answer({ text: 'fine' });
      const runtime = await raw();
      for (const [what, blocks, path, constraint] of refused) {
        const { error } = await runtime.call('session/prompt', { sessionId: 's', contentBlocks: blocks() });
        expect(error?.code, what).to.equal(-32602);
        expect((error?.data as Refusal | undefined)?.violations[0], what).to.deep.include({ path, constraint });
        expect(JSON.stringify(error).length, what).to.be.lessThan(2000);
      }
      expect(runtime.notifications).to.deep.equal([]);
      expect(await objects()).to.deep.equal([]);
      expect(await lab.logs()).to.deep.equal([]);
      await runtime.request('session/prompt', { sessionId: 's', contentBlocks: Array(20).fill(inline(png)) });
      await runtime.idle('s');
      expect(await objects()).to.have.length(1);
    });
  });
});
