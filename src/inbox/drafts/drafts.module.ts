import { Module } from '@nestjs/common';
import { ConversationWorks } from '../../conversations/conversation-works';
import { ConversationsModule } from '../../conversations/conversations.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { draftTables } from './draft-tables';
import { DraftEntity } from './draft.entity';
import { DraftsRepository } from './drafts.repository';
import { DraftsService } from './drafts.service';

@Module({
  imports: [DatabaseModule.forEntities([DraftEntity]), ConversationsModule],
  providers: [DraftsRepository, DraftsService],
  exports: [DraftsService],
})
export class DraftsModule {
  constructor(tables: TableRegistry, works: ConversationWorks, drafts: DraftsRepository) {
    tables.register(...draftTables(drafts));
    works.registerForReplies((tx, key, body) => drafts.deleteSentPipelined(tx, key, body));
  }
}
