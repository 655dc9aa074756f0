import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ConversationWorks } from '../conversations/conversation-works';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { IdempotencyModule } from '../idempotency/idempotency.module';
import { OutboxModule } from '../outbox/outbox.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { DraftsRepository } from './drafts/drafts.repository';
import { DraftsService } from './drafts/drafts.service';
import { inboxTables } from './inbox-tables';
import { NotesRepository } from './notes/notes.repository';
import { NotesService } from './notes/notes.service';
import { PresenceStore } from './presence/presence-store';
import { PresenceService } from './presence/presence.service';
import { VisitorPresence } from './presence/visitor-presence';
import { ReadMarksRepository } from './read-marks/read-marks.repository';
import { ReadMarksService } from './read-marks/read-marks.service';
import { SavedRepliesRepository } from './saved-replies/saved-replies.repository';
import { SavedRepliesService } from './saved-replies/saved-replies.service';

@Module({
  imports: [WorkspacesModule],
  providers: [PresenceStore, PresenceService, VisitorPresence],
  exports: [PresenceService, VisitorPresence],
})
export class PresenceModule {}

const SERVICES = [DraftsService, NotesService, ReadMarksService, SavedRepliesService];

/**
 * Provides drafts, notes, read marks and saved replies. In a process that imports this module, an agent's
 * reply deletes the draft. An assignment by others or the end of a snooze marks the conversation as unread.
 */
@Module({
  imports: [
    ConversationsModule,
    WorkspacesModule,
    IdempotencyModule,
    OutboxModule,
    AuditModule,
    PresenceModule,
  ],
  providers: [DraftsRepository, NotesRepository, ReadMarksRepository, SavedRepliesRepository, ...SERVICES],
  exports: [...SERVICES, PresenceModule],
})
export class InboxModule {
  constructor(
    tables: TableRegistry,
    works: ConversationWorks,
    drafts: DraftsRepository,
    notes: NotesRepository,
  ) {
    tables.register(...inboxTables(drafts, notes));
    works.replies.push((tx, key, body) => drafts.deleteSentPipelined(tx, key, body));
  }
}
