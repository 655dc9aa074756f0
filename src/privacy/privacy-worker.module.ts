import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { ContactErasureRunner } from './contact-erasure.runner';
import { PrivacyModule } from './privacy.module';

/** The worker's side of privacy: it runs erasures. */
@Module({
  imports: [PrivacyModule, AuditModule, ContactsModule],
  providers: [ContactErasureRunner],
})
export class PrivacyWorkerModule {}
