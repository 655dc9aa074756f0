import { Injectable } from '@nestjs/common';
import { AlertNewsRepository } from '../../alerts/alert-news.repository';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { AgentKey } from '../../database/tables/table-declaration';
import { Mailer, MailOutcome } from '../../mails/mailer';
import { Metrics } from '../../metrics/metrics';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { nextTryAfter } from '../mail-tries';
import { AlertMailWriter, WrittenMail } from './alert-mail-writer';
import { AlertMailboxesRepository, ClaimedMail } from './alert-mailboxes.repository';

/** Least time between two mails to a person about a workspace. */
const PAUSE_MS = 10 * 60_000;
/** Number of workspaces whose mails a worker sends at the same time. */
const SIDE_BY_SIDE = 4;

interface SentMail extends WrittenMail {
  claimed: ClaimedMail;
}

/**
 * Mails alerts to the managers of workspaces, each at least once. A mail is sent twice only if its worker
 * ends between the answer of the mail server and the commit; both have the same Message-ID.
 */
@Injectable()
export class AlertMailSender {
  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly mailboxes: AlertMailboxesRepository,
    private readonly news: AlertNewsRepository,
    private readonly writer: AlertMailWriter,
    private readonly mailer: Mailer,
    private readonly metrics: Metrics,
  ) {
    if (!mailer.isConfigured) return;
    runner.registerFree({
      name: 'alert mails',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => mailboxes.findDue(after, server) },
      sideBySide: SIDE_BY_SIDE,
      step: (agent) => this.step(agent),
    });
  }

  private async step(agent: AgentKey): Promise<StepOutcome> {
    const sent = await this.claim(agent);
    if (sent) await this.record(agent, sent, await this.mailer.trySending(sent.mail));
    return 'done';
  }

  /** Claims a mail; ends it if there is nothing to tell any more, or no recipient. */
  private claim(agent: AgentKey): Promise<SentMail | null> {
    return this.database.queueTransaction(async (tx) => {
      const claimed = await this.mailboxes.claim(tx, agent, newId());
      if (!claimed) return null;
      const written = await this.writer.write(tx, agent, claimed);
      if (written) return { claimed, ...written };
      await this.mailboxes.finish(tx, agent, claimed, new Date());
      return null;
    });
  }

  private async record(
    agent: AgentKey,
    { claimed, alertIds }: SentMail,
    outcome: MailOutcome,
  ): Promise<void> {
    this.metrics.noticeMails.inc({ outcome });
    const nextTry = nextTryAfter(outcome, claimed.tries);
    await this.database.queueTransaction(async (tx) => {
      if (outcome === 'sent') await this.news.setTold(tx, agent.tenantId, alertIds);
      if (nextTry) await this.mailboxes.schedule(tx, agent, claimed, nextTry);
      else await this.mailboxes.finish(tx, agent, claimed, new Date(Date.now() + PAUSE_MS));
    });
  }
}
