import { serviceId } from '../kernel/index.js';
import type { ImageAttachmentRef, ImageMediaType } from '../protocol/index.js';

/** An image as a prompt brings it. */
export interface InlineImage {
  /** Canonical base64. */
  readonly data: string;
  readonly mediaType: ImageMediaType;
  readonly name?: string;
}

/**
 * Content-addressed images (core §2.5): logs hold references, never pixels. Nothing is re-encoded.
 */
export interface AttachmentStore {
  /**
   * Judges all images, then keeps all of them: all or nothing. An image that is stored already is not written again.
   *
   * @throws ImageAdmissionError with an admission code of core §2.5; the message names the image by its index
   * @throws CodedError `ATTACHMENT_WRITE_FAILED`, and for an image that is stored already what {@link read} throws
   */
  save(images: readonly InlineImage[]): Promise<readonly ImageAttachmentRef[]>;
  /**
   * The bytes of a stored image, checked against its digest.
   *
   * @throws CodedError `INVALID_ATTACHMENT_REF`, `ATTACHMENT_NOT_FOUND`, `ATTACHMENT_CORRUPT`, `ATTACHMENT_READ_FAILED`
   */
  read(reference: ImageAttachmentRef): Promise<Buffer>;
}
/** Runtime scope; optional: without it image prompts are refused. */
export const AttachmentStore = serviceId<AttachmentStore>('AttachmentStore');
