import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { IdempotencyModule } from '../../idempotency/idempotency.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { noteTables } from './note-tables';
import { NoteEntity } from './note.entity';
import { NotesRepository } from './notes.repository';
import { NotesService } from './notes.service';

@Module({
  imports: [DatabaseModule.forEntities([NoteEntity]), ConversationsModule, IdempotencyModule, AuditModule],
  providers: [NotesRepository, NotesService],
  exports: [NotesService],
})
export class NotesModule {
  constructor(tables: TableRegistry, notes: NotesRepository) {
    tables.register(...noteTables(notes));
  }
}
