import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/contacts.module';
import { OutboxWorkerModule } from '../outbox/outbox.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { TableRegistry } from '../database/tables/table-registry';
import { MessageIndexRepository } from './message-index.repository';
import { MessageIndexWorker } from './message-index.worker';
import { MessageIndexer } from './message-indexer';
import { messageSearchTables } from './message-search-tables';
import { MessageSearchController } from './message-search.controller';
import { MessageSearchRepository } from './message-search.repository';
import { MessageSearchService } from './message-search.service';
import { SettledTime } from './settled-time';

@Module({
  imports: [ContactsModule, RateLimitModule],
  providers: [MessageSearchRepository, MessageIndexRepository, MessageSearchService],
  exports: [MessageIndexRepository, MessageSearchService],
})
export class MessageSearchModule {
  constructor(tables: TableRegistry, index: MessageIndexRepository) {
    tables.register(...messageSearchTables(index));
  }
}

@Module({
  imports: [MessageSearchModule, OutboxWorkerModule],
  providers: [SettledTime, MessageIndexer, MessageIndexWorker],
})
export class MessageSearchWorkerModule {}

@Module({ imports: [MessageSearchModule, RateLimitModule], controllers: [MessageSearchController] })
export class MessageSearchApiModule {}
