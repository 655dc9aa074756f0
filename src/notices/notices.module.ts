import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { PresenceModule } from '../inbox/inbox.module';
import { LoginsModule } from '../logins/logins.module';
import { MailsModule } from '../mails/mails.module';
import { MetricsModule } from '../metrics/metrics.module';
import { AgentWorks } from '../workspaces/agent-works';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AgentNoticesRepository } from './agents/agent-notices.repository';
import { AgentSender } from './agents/agent-sender';
import { agentNoticeTables } from './agents/agent-tables';
import { NoticeChoicesRepository } from './agents/notice-choices.repository';
import { NoticeChoicesService } from './agents/notice-choices.service';
import { NoticeDispatch } from './agents/notice-dispatch';
import { NoticeReaders } from './agents/notice-readers';
import { OwedNotices } from './agents/owed-notices';
import { OwedNoticesRepository } from './agents/owed-notices.repository';
import { AnswerAddressesRepository } from './answers/answer-addresses.repository';
import { AnswerAddressesService } from './answers/answer-addresses.service';
import { AnswerLinks } from './answers/answer-links';
import { AnswerNoticesRepository } from './answers/answer-notices.repository';
import { AnswerSender } from './answers/answer-sender';
import { answerTables } from './answers/answer-tables';
import { QuietAnswers } from './answers/quiet-answers';
import { QuietAnswersRepository } from './answers/quiet-answers.repository';
import { MailLimits } from './mail-limits';
import { PushModule } from './push/push.module';

const ANSWERS = [AnswerAddressesRepository, AnswerAddressesService, AnswerLinks, AnswerNoticesRepository];
const AGENTS = [NoticeChoicesRepository, NoticeChoicesService, AgentNoticesRepository];

/**
 * Provides the addresses of visitors, the links in mails to them, and the choices of agents. In a process
 * that imports this module, the deactivation of an agent deletes the agent's choices and notices.
 */
@Module({
  imports: [ConversationsModule, LoginsModule, MailsModule, PushModule, WorkspacesModule],
  providers: [...ANSWERS, ...AGENTS],
  exports: [...ANSWERS, ...AGENTS],
})
export class NoticesModule {
  constructor(
    tables: TableRegistry,
    works: AgentWorks,
    addresses: AnswerAddressesRepository,
    answers: AnswerNoticesRepository,
    choices: NoticeChoicesRepository,
    agents: AgentNoticesRepository,
  ) {
    tables.register(...answerTables(addresses, answers), ...agentNoticeTables(choices, agents));
    works.deactivations.push(async (tx, agent) => {
      await choices.delete(tx, agent);
      await agents.deleteOfAgent(tx, agent);
    });
  }
}

const AGENTS_WORK = [OwedNotices, OwedNoticesRepository, AgentSender, NoticeDispatch, NoticeReaders];

/** Finds unread answers, and conversations that wait for agents who are not there, and sends notices. */
@Module({
  imports: [
    NoticesModule,
    MailsModule,
    LoginsModule,
    PresenceModule,
    PushModule,
    MetricsModule,
    RateLimitModule,
  ],
  providers: [MailLimits, AnswerSender, QuietAnswers, QuietAnswersRepository, ...AGENTS_WORK],
})
export class NoticesWorkerModule {}
