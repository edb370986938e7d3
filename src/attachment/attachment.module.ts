import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { AttachmentStore } from './attachment-store.js';
import { FileAttachmentConfig } from './file-attachment-config.js';
import { FileAttachmentStore } from './file-attachment-store.js';

/** Provides `AttachmentStore` as content-addressed files. */
export const attachmentModule = defineModule({
  name: 'attachment-local',
  config: FileAttachmentConfig,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(FileAttachmentConfig).toConstantValue(config);
      bind(AttachmentStore).to(FileAttachmentStore);
    }),
});
