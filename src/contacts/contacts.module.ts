import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { IdempotencyModule } from '../idempotency/idempotency.module';
import { OutboxModule } from '../outbox/outbox.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { TableRegistry } from '../database/tables/table-registry';
import { contactTables } from './contact-tables';
import { ContactEvents } from './contact-events';
import { ContactIdentitiesRepository } from './contact-identities.repository';
import { ContactSearchRepository } from './contact-search.repository';
import { ContactsController } from './contacts.controller';
import { ContactsRepository } from './contacts.repository';
import { ContactsService } from './contacts.service';
import { CustomersService } from './customers.service';

@Module({
  imports: [AuditModule, OutboxModule, IdempotencyModule, RateLimitModule],
  providers: [
    ContactSearchRepository,
    ContactIdentitiesRepository,
    ContactsRepository,
    ContactEvents,
    ContactsService,
    CustomersService,
  ],
  exports: [ContactIdentitiesRepository, ContactsRepository, ContactsService, CustomersService],
})
export class ContactsModule {
  constructor(tables: TableRegistry, contacts: ContactsRepository) {
    tables.register(...contactTables(contacts));
  }
}

@Module({ imports: [ContactsModule], controllers: [ContactsController] })
export class ContactsApiModule {}
