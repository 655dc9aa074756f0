import { Injectable } from '@nestjs/common';
import { idFloor, LOWEST_ID, newId } from '../../common/ids';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { Mailer } from '../../mails/mailer';
import { Polls } from '../../queue/polling/polls';
import { MailLimit, MailLimits } from '../mail-limits';
import { AnswerNoticesRepository } from './answer-notices.repository';
import { QuietAnswer, QuietAnswersRepository, STEP_ANSWERS, STEP_WIDGETS } from './quiet-answers.repository';

/** Time before the start of a worker from which it searches, because none may have run meanwhile. */
const LOOK_BACK_MS = 6 * 3_600_000;
/** Longest stretch of time that one pass over the workspaces searches. */
const STRETCH_MS = 3_600_000;
const LIMIT: MailLimit = { kind: 'answer', toAddress: 10, ofWorkspace: 500 };

/** Stretch of time that a pass over the workspaces searches, in ids of messages, and how far it has come. */
interface Pass {
  until: number;
  from: string;
  to: string;
}

/**
 * Finds answers that visitors have not read for some minutes, and makes their notices. Each pass over the
 * connected widgets searches the answers that became old enough since the pass before.
 */
@Injectable()
export class QuietAnswers {
  private readonly passes = new Map<string, Pass>();

  constructor(
    polls: Polls,
    mailer: Mailer,
    private readonly config: Config,
    private readonly database: Database,
    private readonly answers: QuietAnswersRepository,
    private readonly notices: AnswerNoticesRepository,
    private readonly limits: MailLimits,
  ) {
    // Without a mail server nothing is found, so nothing waits.
    if (mailer.isConfigured)
      polls.search('unread answers', LOWEST_ID, (after, server) => this.step(after, server));
  }

  private async step(after: string, server: WorkspaceServer): Promise<string | null> {
    const pass = after === LOWEST_ID ? this.beginPass(server.name) : this.passes.get(server.name)!;
    const widgets = await this.answers.listWidgets(after, server);
    let { from } = pass;
    for (;;) {
      const found = await this.answers.find(widgets, from, pass.to);
      for (const answer of found) await this.tell(answer);
      if (found.length < STEP_ANSWERS) break;
      from = found
        .map(({ messageId }) => messageId)
        .sort()
        .at(-1)!;
    }
    return widgets.length < STEP_WIDGETS ? null : widgets.at(-1)!.tenantId;
  }

  private beginPass(server: string): Pass {
    const newest = Date.now() - this.config.answerMailSeconds * 1000;
    const since = this.passes.get(server)?.until ?? newest - LOOK_BACK_MS;
    const until = Math.max(since, Math.min(newest, since + STRETCH_MS));
    const pass = { until, from: idFloor(new Date(since)), to: idFloor(new Date(until)) };
    this.passes.set(server, pass);
    return pass;
  }

  private async tell({
    tenantId,
    connectionId,
    conversationId,
    messageId,
    email,
  }: QuietAnswer): Promise<void> {
    const notice = { tenantId, id: newId(), conversationId, connectionId, messageId };
    await this.database.queueTransaction(async (tx) => {
      const isNew = await this.notices.add(tx, notice);
      if (isNew && !(await this.limits.countMail(LIMIT, tenantId, email)))
        await this.notices.delete(tx, notice);
    });
  }
}
