import { AlertsModule } from '../alerts/alerts.module';
import { Module } from '@nestjs/common';
import { WorkspaceDeletionWorkerModule } from '../workspaces/deletion/workspace-deletion-worker.module';
import { Config } from '../config/config';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { IdempotencyModule } from '../idempotency/idempotency.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { OutboxModule } from '../outbox/outbox.module';
import { attachmentTables } from './attachment-tables';
import { AttachmentWriter } from './attachment-writer';
import { AttachmentsController } from './attachments.controller';
import { AttachmentsRepository } from './attachments.repository';
import { AttachmentsService } from './attachments.service';
import { AttachmentContents } from './contents/attachment-contents';
import { FileCheck } from './files/file-check';
import { FileDeleter } from './files/file-deleter';
import { FileIntake } from './files/file-intake';
import { FileSpace } from './files/file-space';
import { IntakePace } from './files/intake-pace';
import { FileUsageRepository } from './files/file-usage.repository';
import { FileSweep } from './files/file-sweep';
import { WorkspaceFileRemover } from './files/workspace-file-remover';
import { FilesRepository } from './files/files.repository';
import { OrphanSearch } from './files/orphan-search';
import { RenditionMaker } from './renditions/rendition-maker';
import { RenditionRunner } from './renditions/rendition-runner';
import { RenditionsRepository } from './renditions/renditions.repository';
import { ReceivedFiles } from './received-files';
import { DiskStore } from './store/disk-store';
import { FileStoreMetrics } from './store/file-store-metrics';
import { FileStoreProof } from './store/file-store-proof';
import { FileStoresRepository } from './store/file-stores.repository';
import { FileStore } from './store/file-store';
import { FormUploads } from './uploads/form-uploads';
import { FormUploadsController } from './uploads/form-uploads.controller';
import { S3Store } from './store/s3-store';
import { UploadContents } from './uploads/upload-contents';
import { UploadWriter } from './uploads/upload-writer';
import { UploadsController } from './uploads/uploads.controller';
import { UploadsService } from './uploads/uploads.service';

const EXPORTED = [
  AttachmentsRepository,
  AttachmentWriter,
  FileIntake,
  FilesRepository,
  FileSpace,
  FileUsageRepository,
  ReceivedFiles,
  FileStoresRepository,
  FileCheck,
  FileSweep,
  OrphanSearch,
  AttachmentsService,
  AttachmentContents,
  UploadsService,
  UploadWriter,
  UploadContents,
];

@Module({
  imports: [AlertsModule, ConversationsModule, IdempotencyModule, OutboxModule, RateLimitModule],
  providers: [
    ...EXPORTED,
    FileStoreMetrics,
    IntakePace,
    {
      provide: FileStore,
      inject: [Config],
      useFactory: ({ fileStore }: Config) =>
        'directory' in fileStore ? new DiskStore(fileStore.directory) : S3Store.open(fileStore),
    },
  ],
  exports: [...EXPORTED, FileStore, RateLimitModule],
})
export class AttachmentsModule {
  constructor(tables: TableRegistry, attachments: AttachmentsRepository, files: FilesRepository) {
    tables.register(...attachmentTables(attachments, files));
  }
}

@Module({
  imports: [AttachmentsModule, WorkspaceDeletionWorkerModule],
  providers: [
    FileStoreProof,
    FileDeleter,
    WorkspaceFileRemover,
    RenditionMaker,
    RenditionRunner,
    RenditionsRepository,
  ],
})
export class AttachmentsWorkerModule {}

@Module({
  imports: [AttachmentsModule],
  providers: [FormUploads, FileStoreProof],
  controllers: [UploadsController, FormUploadsController, AttachmentsController],
})
export class AttachmentsApiModule {}
