import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryRoundsRepository } from '../deliveries/delivery-rounds.repository';
import { OutcomeCounts, RecoveryOutcomesRepository } from '../deliveries/recovery-outcomes.repository';
import { WebhookRecovery } from './webhook-recovery';

const COUNTED = 1_000;

@Injectable()
export class RecoveryTally {
  constructor(
    private readonly rounds: DeliveryRoundsRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
  ) {}

  /**
   * Adds to a locked recovery how its deliveries have ended since the last count. The recovery is settled
   * once it makes no more deliveries and none of them is pending.
   * @returns the recovery's new row, or the given one if nothing has changed
   */
  async countEnds(tx: Transaction, recovery: WebhookRecovery): Promise<WebhookRecovery> {
    const { tenantId, id, status, finishedAt } = recovery;
    // Pending deliveries are read before the outcomes, so that a delivery that ends in between is not missed.
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
      failedInRow: taken.reduce(
        (failed, { succeeded, exhausted }) => (succeeded > 0 ? 0 : failed + exhausted),
        recovery.failedInRow,
      ),
      isSettled,
      finishedAt: isSettled && status === 'COMPLETED' ? new Date() : finishedAt,
    };
  }
}
