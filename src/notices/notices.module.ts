import { Module } from '@nestjs/common';
import { AlertsModule } from '../alerts/alerts.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { LoginsModule } from '../logins/logins.module';
import { MailsModule } from '../mails/mails.module';
import { MetricsModule } from '../metrics/metrics.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AlertCollector } from './alerts/alert-collector';
import { AlertMailChoicesService } from './alerts/alert-mail-choices.service';
import { AlertMailEndsController } from './alerts/alert-mail-ends.controller';
import { AlertMailEndsService } from './alerts/alert-mail-ends.service';
import { AlertMailLinks } from './alerts/alert-mail-links';
import { AlertMailSender } from './alerts/alert-mail-sender';
import { alertMailTables } from './alerts/alert-mail-tables';
import { AlertMailWriter } from './alerts/alert-mail-writer';
import { AlertMailboxesRepository } from './alerts/alert-mailboxes.repository';
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

/** Provides the choices of mails about alerts, and the links that end them. */
@Module({
  imports: [MailsModule],
  providers: [AlertMailboxesRepository, AlertMailChoicesService, AlertMailLinks],
  exports: [AlertMailboxesRepository, AlertMailChoicesService, AlertMailLinks],
})
export class AlertMailsModule {
  constructor(tables: TableRegistry, mailboxes: AlertMailboxesRepository) {
    tables.register(...alertMailTables(mailboxes));
  }
}

/** Serves the links in mails that end them. */
@Module({
  imports: [AlertMailsModule, RateLimitModule, WorkspacesModule],
  controllers: [AlertMailEndsController],
  providers: [AlertMailEndsService],
})
export class NoticesApiModule {}

/** Finds unread answers and alerts, and mails notices of them. */
@Module({
  imports: [
    AlertMailsModule,
    AlertsModule,
    LoginsModule,
    MailsModule,
    MetricsModule,
    NoticesModule,
    RateLimitModule,
  ],
  providers: [
    AlertCollector,
    AlertMailSender,
    AlertMailWriter,
    AnswerLimits,
    AnswerSender,
    QuietAnswers,
    QuietAnswersRepository,
  ],
})
export class NoticesWorkerModule {}
