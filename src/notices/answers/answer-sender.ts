import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Mailer, MailOutcome } from '../../mails/mailer';
import { Metrics } from '../../metrics/metrics';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { MailLimit, MailLimits } from '../mail-limits';
import { nextTryAfter } from '../mail-tries';
import { AnswerAddressesRepository } from './answer-addresses.repository';
import { AnswerLinks } from './answer-links';
import { answerMail, MAX_QUOTES } from './answer-mail';
import { AnswerNoticesRepository, NoticeContent, NoticeKey } from './answer-notices.repository';

/** Number of workspaces whose mails a worker sends at the same time. */
const SIDE_BY_SIDE = 4;
const LIMIT: MailLimit = { kind: 'answer', toAddress: 10, ofWorkspace: 500 };
/** Time for which notices wait above a limit. */
const ABOVE_LIMIT_MS = 3_600_000;

/**
 * Sends notices by mail, each at least once. A mail is sent twice only if its worker ends between the answer
 * of the mail server and the commit; both have the same Message-ID.
 */
@Injectable()
export class AnswerSender {
  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly notices: AnswerNoticesRepository,
    private readonly addresses: AnswerAddressesRepository,
    private readonly links: AnswerLinks,
    private readonly limits: MailLimits,
    private readonly mailer: Mailer,
    private readonly metrics: Metrics,
  ) {
    if (!mailer.isConfigured) return;
    runner.registerFree({
      name: 'answer notices',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => notices.findDue(after, server) },
      sideBySide: SIDE_BY_SIDE,
      step: (key) => this.step(key),
    });
  }

  private async step(key: NoticeKey): Promise<StepOutcome> {
    const claimed = await this.claim(key);
    if (!claimed) return 'done';
    const { content, texts } = claimed;
    const link = this.links.make(content.siteKey, key);
    const mail = answerMail(content.locale, content.workspaceName, texts, link);
    const outcome = await this.mailer.trySending({
      to: content.email,
      senderName: content.workspaceName,
      id: key.id,
      ...mail,
    });
    await this.record(key, content, outcome);
    return 'done';
  }

  /** Claims a notice. Deletes it if there is nothing to tell any more, and postpones it above a limit. */
  private claim(key: NoticeKey): Promise<{ content: NoticeContent; texts: string[] } | null> {
    return this.database.queueTransaction(async (tx) => {
      const tries = await this.notices.claim(tx, key);
      if (tries === null) return null;
      const content = await this.notices.findContent(tx, key);
      if (!content) {
        await this.notices.delete(tx, key);
        return null;
      }
      if (tries === 1 && !(await this.limits.countMail(LIMIT, key.tenantId, content.email))) {
        await this.notices.postpone(tx, key, new Date(Date.now() + ABOVE_LIMIT_MS));
        return null;
      }
      const { conversationId, messageId } = content;
      const conversation = { tenantId: key.tenantId, conversationId };
      return { content, texts: await this.notices.listTexts(tx, conversation, messageId, MAX_QUOTES) };
    });
  }

  private async record(key: NoticeKey, content: NoticeContent, outcome: MailOutcome): Promise<void> {
    const { conversationId, email, locale, tries } = content;
    this.metrics.noticeMails.inc({ outcome });
    await this.database.queueTransaction(async (tx) => {
      if (outcome === 'sent') return this.notices.setSent(tx, key, tries);
      if (outcome === 'no_such_recipient') {
        const conversation = { tenantId: key.tenantId, conversationId };
        await this.addresses.setRefused(tx, conversation, { email, locale: locale ?? 'en' });
      }
      await this.notices.schedule(tx, key, tries, nextTryAfter(outcome, tries));
    });
  }
}
