import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { SAVED_REPLY_TABLES } from './saved-reply-tables';
import { SavedReplyEntity } from './saved-reply.entity';
import { SavedRepliesRepository } from './saved-replies.repository';
import { SavedRepliesService } from './saved-replies.service';

@Module({
  imports: [DatabaseModule.forEntities([SavedReplyEntity]), WorkspacesModule, AuditModule],
  providers: [SavedRepliesRepository, SavedRepliesService],
  exports: [SavedRepliesService],
})
export class SavedRepliesModule {
  constructor(tables: TableRegistry) {
    tables.register(...SAVED_REPLY_TABLES);
  }
}
