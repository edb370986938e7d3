export { AttachmentStore, type InlineImage } from './attachment-store.js';
export { type ImageAdmissionCode, ImageAdmissionError, isImageAdmissionError } from './errors.js';
