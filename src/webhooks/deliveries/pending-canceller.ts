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
const PAUSE_MS = 25;
const MAX_PASSES = 1_000;

interface Pass {
  after: UnowedPosition;
  /** Whether all deliveries are now read for the last time, because none could appear any more. */
  isLast: boolean;
}

/** Cancels deliveries of ended activations, and of event types that the endpoint no longer receives. */
@Injectable()
export class PendingCanceller {
  /**
   * Position up to which each cancellation has read its deliveries. The next step begins there, so that it
   * does not read the same rows, or the dead versions of deleted rows, a second time.
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
    // The key contains the start of the cancellation, because an edit of the endpoint restarts it.
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
      // All deliveries are read once more, because deliveries with an attempt in flight were skipped.
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
