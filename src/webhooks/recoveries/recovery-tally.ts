import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryRoundsRepository } from '../deliveries/delivery-rounds.repository';
import { OutcomeCounts, RecoveryOutcomesRepository } from '../deliveries/recovery-outcomes.repository';
import { WebhookRecovery } from './webhook-recovery';

/** Number of outcomes that one step counts. */
const COUNTED = 1_000;

/** Counts the ends of the deliveries that recoveries have made. */
@Injectable()
export class RecoveryTally {
  constructor(
    private readonly rounds: DeliveryRoundsRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
  ) {}

  /**
   * Adds the outcomes of a locked recovery that are not counted yet. A recovery that makes no more deliveries
   * is settled once none is pending.
   * @returns the recovery's new row, or the given one if nothing has changed
   */
  async countEnds(tx: Transaction, recovery: WebhookRecovery): Promise<WebhookRecovery> {
    const { tenantId, id, status, finishedAt } = recovery;
    // Read before the outcomes: a delivery that ends later is pending here, and one that has ended is among
    // them.
    const isPending = status === 'RUNNING' || (await this.rounds.hasRecovered(tx, tenantId, id));
    const taken = await this.outcomes.takeOutcomes(tx, tenantId, id, COUNTED);
    const isSettled = !isPending && taken.length < COUNTED;
    if (!isSettled && taken.length === 0) return recovery;
    const add = (before: number | null, name: keyof OutcomeCounts) =>
      before === null ? null : taken.reduce((sum, counts) => sum + counts[name], before);
    return {
      ...recovery,
      succeeded: add(recovery.succeeded, 'succeeded'),
      exhausted: add(recovery.exhausted, 'exhausted'),
      cancelled: add(recovery.cancelled, 'cancelled'),
      isSettled,
      finishedAt: isSettled && status === 'COMPLETED' ? new Date() : finishedAt,
    };
  }
}
