import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { Metrics } from '../../metrics/metrics';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import {
  BEFORE_ALL_CANCELLATIONS,
  CancellationKey,
  PendingCancellationsRepository,
} from './pending-cancellations.repository';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { BEFORE_ALL_UNOWED, DueDeliveriesRepository, UnowedPosition } from './due-deliveries.repository';
import { RecoveryOutcomesRepository } from './recovery-outcomes.repository';

const BATCH = 200;
/** Wait between batches, so that cancelling slows no other workspace. */
const PAUSE_MS = 25;
/** Number of passes that this process remembers. */
const MAX_PASSES = 1_000;

/** Pass of this process through the deliveries of a cancellation. */
interface Pass {
  after: UnowedPosition;
  /** Whether it began when no further delivery could appear. */
  isLast: boolean;
}

/**
 * Cancels the deliveries that endpoints are not owed any more: deliveries of former activations, and of event
 * types that were taken out.
 */
@Injectable()
export class PendingCanceller {
  /**
   * Passes of this process, by their cancellations. Each step goes on behind the rows that the last one has
   * deleted, which a snapshot may keep, and behind rows that are still owed.
   */
  private readonly passes = new Map<string, Pass>();

  constructor(
    runner: WorkRunner,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly deliveries: DueDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
    private readonly metrics: Metrics,
  ) {
    runner.register({
      name: 'cancellations',
      search: {
        first: BEFORE_ALL_CANCELLATIONS,
        find: (after, server) => cancellations.find(after, server),
      },
      size: BATCH,
      pauseMs: PAUSE_MS,
      transaction: 'orderedTransaction',
      step: (tx, cancellation, size) => this.cancelNext(tx, cancellation, size),
    });
  }

  private async cancelNext(tx: Transaction, key: CancellationKey, size: number): Promise<StepOutcome> {
    const locked = await this.cancellations.lock(tx, key);
    if (!locked) return 'waiting';
    const { begunAt, isSettled } = locked;
    const target = { tenantId: key.tenantId, id: key.endpointId };
    // A cancellation that has begun again, after another edit, has passes of its own.
    const passKey = `${key.endpointId}:${key.activation}:${begunAt}`;
    const pass = this.passes.get(passKey) ?? { after: BEFORE_ALL_UNOWED, isLast: isSettled };
    const { deleted, last, seen } = await this.deliveries.deleteUnowed(
      tx,
      target,
      key.activation,
      pass.after,
      size,
    );
    if (deleted.length > 0) {
      this.history.insertCancelledPipelined(tx, deleted);
      this.outcomes.insertPipelined(
        tx,
        deleted.map((one) => ({ ...one, status: 'CANCELLED' })),
      );
      await this.cancellations.advance(tx, key, deleted.length);
    }
    const isAtEnd = seen < size;
    const isDone = isAtEnd && pass.isLast;
    if (isDone) await this.cancellations.delete(tx, key);
    tx.onCommit(() => {
      this.metrics.webhookDeliveries.inc({ status: 'cancelled' }, deleted.length);
      // Deliveries that were in flight are behind the position: the last pass looks at all of them again.
      if (isAtEnd && isSettled) this.passes.delete(passKey);
      else this.remember(passKey, { ...pass, after: last ?? pass.after });
    });
    if (isDone) return 'done';
    return isAtEnd && !isSettled ? 'waiting' : 'more';
  }

  private remember(key: string, pass: Pass): void {
    this.passes.delete(key);
    this.passes.set(key, pass);
    if (this.passes.size > MAX_PASSES) this.passes.delete(this.passes.keys().next().value!);
  }
}
