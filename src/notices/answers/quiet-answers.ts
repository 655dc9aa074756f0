import { Injectable } from '@nestjs/common';
import { idFloor, LOWEST_ID, newId } from '../../common/ids';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { Mailer } from '../../mails/mailer';
import { Polls } from '../../queue/polling/polls';
import { Stretches } from '../stretches';
import { AnswerNoticesRepository } from './answer-notices.repository';
import { QuietAnswer, QuietAnswersRepository, STEP_WIDGETS } from './quiet-answers.repository';

/**
 * Finds answers that visitors have not read for some minutes, and makes their notices. Each pass over the
 * connected widgets searches the answers that became old enough since the pass before.
 */
@Injectable()
export class QuietAnswers {
  private readonly stretches = new Stretches();

  constructor(
    polls: Polls,
    mailer: Mailer,
    private readonly config: Config,
    private readonly database: Database,
    private readonly answers: QuietAnswersRepository,
    private readonly notices: AnswerNoticesRepository,
  ) {
    // Without a mail server nothing is found, so nothing waits.
    if (mailer.isConfigured)
      polls.search('unread answers', LOWEST_ID, (after, server) => this.step(after, server));
  }

  private async step(after: string, server: WorkspaceServer): Promise<string | null> {
    const { since, until } =
      after === LOWEST_ID
        ? this.stretches.begin(server.name, Date.now() - this.config.answerMailSeconds * 1000)
        : this.stretches.read(server.name);
    const widgets = await this.answers.listWidgets(after, server);
    const found = this.answers.find(widgets, idFloor(new Date(since)), idFloor(new Date(until)));
    for await (const answers of found)
      await this.stretches.workOn(server.name, answers, (answer) => this.tell(answer));
    if (widgets.length === STEP_WIDGETS) return widgets.at(-1)!.tenantId;
    this.stretches.finish(server.name);
    return null;
  }

  private async tell({ tenantId, connectionId, conversationId, messageId }: QuietAnswer): Promise<void> {
    const notice = { tenantId, id: newId(), conversationId, connectionId, messageId };
    await this.database.queueTransaction((tx) => this.notices.add(tx, notice));
  }
}
