import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { ContactIdentityEntity } from './contact-identity.entity';
import { ContactEntity } from './contact.entity';
import { ContactSearchRepository } from './contact-search.repository';
import { ContactsController } from './contacts.controller';
import { ContactsRepository } from './contacts.repository';
import { ContactsService } from './contacts.service';

@Module({
  imports: [DatabaseModule.forEntities([ContactEntity, ContactIdentityEntity]), RateLimitModule],
  providers: [ContactSearchRepository, ContactsRepository, ContactsService],
  exports: [ContactsRepository, ContactsService],
})
export class ContactsModule {}

@Module({ imports: [ContactsModule], controllers: [ContactsController] })
export class ContactsApiModule {}
