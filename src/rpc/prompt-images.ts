import { inject, injectable, optional } from 'inversify';
import { AttachmentStore, type ImageAdmissionError, isImageAdmissionError } from '../attachment/index.js';
import {
  type ContentBlock,
  type ImageAttachmentRef,
  type InlineImageBlock,
  JsonRpcResponseError,
  type ParamsViolation,
  type PromptBlock,
} from '../protocol/index.js';

/** Whether a judged prompt carries images. */
export function hasImages(blocks: readonly PromptBlock[]): boolean {
  return blocks.some(isInlineImage);
}

/** The params guard lets no other images pass. */
function isInlineImage(block: PromptBlock): block is InlineImageBlock {
  return block.type === 'image';
}

/** Keeps the images of prompts, so that sessions get references and never pixels (core §1.5). */
@injectable()
export class PromptImages {
  constructor(@inject(AttachmentStore) @optional() private readonly store: AttachmentStore | undefined) {}

  /**
   * The judged blocks of a prompt in their order, each image stored and replaced by its reference: all or none. What
   * is no image is passed on as it is.
   *
   * @throws JsonRpcResponseError -32602 without a store, and for images that are not admitted
   * @throws CodedError a storage code of core §2.5
   */
  async keep(blocks: readonly PromptBlock[]): Promise<readonly ContentBlock[]> {
    const references = await this.#save(blocks);
    let image = 0;
    return blocks.map((block) => {
      if (!isInlineImage(block)) return block as ContentBlock;
      const attachment = references[image++] as ImageAttachmentRef;
      return { type: 'image', attachment };
    });
  }

  async #save(blocks: readonly PromptBlock[]): Promise<readonly ImageAttachmentRef[]> {
    const images = [...blocks.entries()].flatMap(([at, block]) => (isInlineImage(block) ? [{ at, block }] : []));
    if (images.length === 0) return [];
    if (this.store === undefined) {
      throw JsonRpcResponseError.invalidParams(
        images.map(({ at }) => ({ path: `contentBlocks[${at}]`, constraint: 'attachmentStore', message: NO_STORE })),
      );
    }
    try {
      return await this.store.save(images.map(({ block: { data, mimeType } }) => ({ data, mediaType: mimeType })));
    } catch (thrown) {
      if (!isImageAdmissionError(thrown)) throw thrown;
      const at = thrown.imageIndex === undefined ? undefined : images[thrown.imageIndex]?.at;
      throw JsonRpcResponseError.invalidParams([violation(thrown, at)]);
    }
  }
}

const NO_STORE = 'SDK image prompt requires an attachment store';
const ABOUT_THE_TYPE: ReadonlySet<string> = new Set(['UNSUPPORTED_IMAGE_TYPE', 'IMAGE_TYPE_MISMATCH']);

/** @param at the block at fault; undefined: all of them together */
function violation({ code, message }: ImageAdmissionError, at: number | undefined): ParamsViolation {
  const member = ABOUT_THE_TYPE.has(code) ? 'mimeType' : 'data';
  const path = at === undefined ? 'contentBlocks' : `contentBlocks[${at}].${member}`;
  return { path, constraint: code, message: `${path}: ${message}` };
}
