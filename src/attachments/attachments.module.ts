import { Module } from '@nestjs/common';
import { Config } from '../config/config';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { OutboxModule } from '../outbox/outbox.module';
import { attachmentTables } from './attachment-tables';
import { AttachmentWriter } from './attachment-writer';
import { AttachmentsRepository } from './attachments.repository';
import { FileDeleter } from './files/file-deleter';
import { FileIntake } from './files/file-intake';
import { FileUsageRepository } from './files/file-usage.repository';
import { FilesRepository } from './files/files.repository';
import { ReceivedFiles } from './received-files';
import { DiskStore } from './store/disk-store';
import { FileStore } from './store/file-store';

const EXPORTED = [
  AttachmentsRepository,
  AttachmentWriter,
  FileIntake,
  FilesRepository,
  FileUsageRepository,
  ReceivedFiles,
];

@Module({
  imports: [ConversationsModule, OutboxModule],
  providers: [
    ...EXPORTED,
    {
      provide: FileStore,
      inject: [Config],
      useFactory: (config: Config) => new DiskStore(config.fileStoreDirectory),
    },
  ],
  exports: [...EXPORTED, FileStore],
})
export class AttachmentsModule {
  constructor(tables: TableRegistry, attachments: AttachmentsRepository, files: FilesRepository) {
    tables.register(...attachmentTables(attachments, files));
  }
}

@Module({ imports: [AttachmentsModule], providers: [FileDeleter] })
export class AttachmentsWorkerModule {}
