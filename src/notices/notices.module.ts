import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { MailsModule } from '../mails/mails.module';
import { MetricsModule } from '../metrics/metrics.module';
import { AnswerAddressesRepository } from './answer-addresses.repository';
import { AnswerAddressesService } from './answer-addresses.service';
import { AnswerLinks } from './answer-links';
import { AnswerNoticesRepository } from './answer-notices.repository';
import { NoticeLimits } from './notice-limits';
import { NoticeSender } from './notice-sender';
import { noticeTables } from './notice-tables';
import { QuietAnswers } from './quiet-answers';
import { QuietAnswersRepository } from './quiet-answers.repository';

/** Provides the addresses of visitors, and the links in mails to them. */
@Module({
  imports: [ConversationsModule, MailsModule],
  providers: [AnswerAddressesRepository, AnswerAddressesService, AnswerLinks, AnswerNoticesRepository],
  exports: [AnswerAddressesRepository, AnswerAddressesService, AnswerLinks, AnswerNoticesRepository],
})
export class NoticesModule {
  constructor(tables: TableRegistry, addresses: AnswerAddressesRepository, notices: AnswerNoticesRepository) {
    tables.register(...noticeTables(addresses, notices));
  }
}

/** Finds unread answers, and mails notices of them. */
@Module({
  imports: [NoticesModule, MailsModule, MetricsModule, RateLimitModule],
  providers: [NoticeLimits, NoticeSender, QuietAnswers, QuietAnswersRepository],
})
export class NoticesWorkerModule {}
