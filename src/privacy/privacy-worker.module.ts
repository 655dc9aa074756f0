import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { MessagesModule } from '../messages/messages.module';
import { OutboxModule } from '../outbox/outbox.module';
import { ContactErasureRunner } from './contact-erasure-runner';
import { PrivacyModule } from './privacy.module';
import { UnsentMessageRunner } from './unsent-message-runner';

/** Runs erasures of contacts and of what customers have unsent, in workers. */
@Module({
  imports: [PrivacyModule, AuditModule, ConversationsModule, MessagesModule, OutboxModule],
  providers: [ContactErasureRunner, UnsentMessageRunner],
})
export class PrivacyWorkerModule {}
