import { Module } from '@nestjs/common';
import { ConversationsModule } from '../../conversations/conversations.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { READ_MARK_TABLES } from './read-mark-tables';
import { ReadMarksRepository } from './read-marks.repository';
import { ReadMarksService } from './read-marks.service';

@Module({
  imports: [DatabaseModule.forEntities([]), ConversationsModule, OutboxModule],
  providers: [ReadMarksRepository, ReadMarksService],
  exports: [ReadMarksService],
})
export class ReadMarksModule {
  constructor(tables: TableRegistry) {
    tables.register(...READ_MARK_TABLES);
  }
}
