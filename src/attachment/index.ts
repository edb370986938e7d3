export { AttachmentStore, type InlineImage } from './attachment-store.js';
