import { Injectable } from '@nestjs/common';
import { AlertKind } from '../../alerts/alert-kinds';
import { AlertNewsRepository, OwedAlert } from '../../alerts/alert-news.repository';
import { Mailer } from '../../mails/mailer';
import { Transaction } from '../../database/transaction';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { AlertMailboxesRepository } from './alert-mailboxes.repository';

/** Kinds whose end is no news: a day or a key has passed. */
const ENDS_BY_ITSELF: readonly AlertKind[] = ['RECOVERY_FINISHED', 'KEY_ENDING'];
/** Age of an end that is no news any more, as after a time without a mail server. */
const OLD_MS = 24 * 3_600_000;

/** Collects the openings and ends of alerts for the mails to the managers of their workspaces. */
@Injectable()
export class AlertCollector {
  constructor(
    runner: WorkRunner,
    mailer: Mailer,
    private readonly news: AlertNewsRepository,
    private readonly mailboxes: AlertMailboxesRepository,
  ) {
    // Without a mail server nothing is collected, so nothing waits.
    if (!mailer.isConfigured) return;
    runner.register({
      name: 'owed alerts',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => news.findOwed(after, server) },
      step: (tx, alert: OwedAlert) => this.collect(tx, alert),
    });
  }

  private async collect(tx: Transaction, alert: OwedAlert): Promise<StepOutcome> {
    const managers = await this.mailboxes.listManagers(tx, alert.tenantId);
    const taken = await this.news.takeOwed(tx, alert);
    if (!taken || isNoNews(taken)) return 'done';
    // In the order of their ids, so that two workers with two alerts of a workspace can't deadlock.
    for (const agentId of managers) {
      const agent = { tenantId: alert.tenantId, agentId };
      await this.mailboxes.collect(tx, agent, { id: alert.id, kind: taken.kind });
    }
    return 'done';
  }
}

function isNoNews({ kind, resolvedAt }: { kind: AlertKind; resolvedAt: Date | null }): boolean {
  if (!resolvedAt) return false;
  return ENDS_BY_ITSELF.includes(kind) || resolvedAt.getTime() < Date.now() - OLD_MS;
}
