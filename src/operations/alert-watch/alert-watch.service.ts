import { Injectable, Logger } from '@nestjs/common';
import { AlertWriter } from '../../alerts/alert-writer';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { EndingThingsRepository } from './ending-things.repository';

/** Opens and resolves the alerts that time alone causes, each in a transaction of its own. */
@Injectable()
export class AlertWatchService {
  private readonly logger = new Logger(AlertWatchService.name);

  constructor(
    private readonly database: Database,
    private readonly ending: EndingThingsRepository,
    private readonly alerts: AlertWriter,
  ) {}

  async watch(stop?: AbortSignal): Promise<void> {
    for await (const tenantId of this.ending.findTrials()) {
      if (stop?.aborted) return;
      await this.change(tenantId, (tx) => this.alerts.open(tx, tenantId, 'TRIAL_ENDING', tenantId));
    }
    for await (const { tenantId, id, hasEnded } of this.ending.findKeys()) {
      if (stop?.aborted) return;
      await this.change<unknown>(tenantId, (tx) =>
        hasEnded
          ? this.alerts.resolve(tx, tenantId, ['KEY_ENDING'], id)
          : this.alerts.open(tx, tenantId, 'KEY_ENDING', id),
      );
    }
    for await (const { tenantId, kind, subjectId } of this.ending.findNews()) {
      if (stop?.aborted) return;
      await this.change(tenantId, (tx) => this.alerts.resolve(tx, tenantId, [kind], subjectId));
    }
  }

  /** Changes alerts of a workspace. A failure is logged, and the next watch repeats the change. */
  private async change<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<void> {
    try {
      await this.database.transaction(work);
    } catch (error) {
      this.logger.error({ err: error as Error, tenantId }, 'an alert was not changed; it will be retried');
    }
  }
}
