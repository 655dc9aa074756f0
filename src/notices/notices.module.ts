import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { MailsModule } from '../mails/mails.module';
import { MetricsModule } from '../metrics/metrics.module';
import { AnswerAddressesRepository } from './answers/answer-addresses.repository';
import { AnswerAddressesService } from './answers/answer-addresses.service';
import { AnswerLinks } from './answers/answer-links';
import { AnswerNoticesRepository } from './answers/answer-notices.repository';
import { AnswerLimits } from './answers/answer-limits';
import { AnswerSender } from './answers/answer-sender';
import { answerTables } from './answers/answer-tables';
import { QuietAnswers } from './answers/quiet-answers';
import { QuietAnswersRepository } from './answers/quiet-answers.repository';

/** Provides the addresses of visitors, and the links in mails to them. */
@Module({
  imports: [ConversationsModule, MailsModule],
  providers: [AnswerAddressesRepository, AnswerAddressesService, AnswerLinks, AnswerNoticesRepository],
  exports: [AnswerAddressesRepository, AnswerAddressesService, AnswerLinks, AnswerNoticesRepository],
})
export class NoticesModule {
  constructor(tables: TableRegistry, addresses: AnswerAddressesRepository, notices: AnswerNoticesRepository) {
    tables.register(...answerTables(addresses, notices));
  }
}

/** Finds unread answers, and mails notices of them. */
@Module({
  imports: [NoticesModule, MailsModule, MetricsModule, RateLimitModule],
  providers: [AnswerLimits, AnswerSender, QuietAnswers, QuietAnswersRepository],
})
export class NoticesWorkerModule {}
