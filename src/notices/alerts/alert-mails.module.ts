import { Module } from '@nestjs/common';
import { AlertsModule } from '../../alerts/alerts.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { LoginsModule } from '../../logins/logins.module';
import { MailsModule } from '../../mails/mails.module';
import { MetricsModule } from '../../metrics/metrics.module';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { AlertCollector } from './alert-collector';
import { AlertMailChoicesService } from './alert-mail-choices.service';
import { AlertMailEndsController } from './alert-mail-ends.controller';
import { AlertMailEndsService } from './alert-mail-ends.service';
import { AlertMailLinks } from './alert-mail-links';
import { AlertMailSender } from './alert-mail-sender';
import { alertMailTables } from './alert-mail-tables';
import { AlertMailWriter } from './alert-mail-writer';
import { AlertSubjectsRepository } from './alert-subjects.repository';
import { AlertMailboxesRepository } from './alert-mailboxes.repository';

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

/** Serves the links in mails about alerts, which end them. */
@Module({
  imports: [AlertMailsModule, RateLimitModule, WorkspacesModule],
  controllers: [AlertMailEndsController],
  providers: [AlertMailEndsService],
})
export class AlertMailsApiModule {}

/** Collects alerts, and mails them. */
@Module({
  imports: [AlertMailsModule, AlertsModule, LoginsModule, MailsModule, MetricsModule],
  providers: [AlertCollector, AlertMailSender, AlertMailWriter, AlertSubjectsRepository],
})
export class AlertMailsWorkerModule {}
