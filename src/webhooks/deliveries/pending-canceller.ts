import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { StepRounds } from '../../queue/polling/step-rounds';
import { Database } from '../../database/database';
import { Polls } from '../../queue/polling/polls';
import { Metrics } from '../../metrics/metrics';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { PendingCancellation, PendingCancellationsRepository } from './pending-cancellations.repository';
import { BEFORE_ALL_UNOWED, DueDeliveriesRepository, UnowedPosition } from './due-deliveries.repository';
import { RecoveryOutcomesRepository } from './recovery-outcomes.repository';

const BATCH = 200;
/** Wait between batches, so that cancelling slows no other workspace. */
const PAUSE_MS = 25;

/** Pass of this process through the deliveries of a cancellation. */
interface Pass {
  after: UnowedPosition;
  /** Whether it began when no further delivery could appear. */
  isLast: boolean;
}

/**
 * Cancels the deliveries that endpoints are not owed any more: deliveries of former activations, and of event
 * types that were taken out. It goes in small steps. Deliveries and progress commit together, so that another
 * worker continues after a killed one.
 */
@Injectable()
export class PendingCanceller implements OnModuleInit {
  private readonly logger = new Logger(PendingCanceller.name);
  private readonly rounds = new StepRounds<PendingCancellation>({
    size: BATCH,
    pauseMs: PAUSE_MS,
    list: () => this.list(),
    keyOf,
    step: (cancellation, size) => this.step(cancellation, size),
    onError: ({ tenantId, endpointId }, err, deliveries) =>
      this.logger.error(
        { err, tenantId, endpointId, deliveries },
        'a step of a cancellation failed; it will be retried',
      ),
  });

  /**
   * Passes of this process. Each step goes on behind the rows that the last one has deleted, which a snapshot
   * may keep, and behind those that are still owed.
   */
  private readonly passes = new Map<string, Pass>();

  constructor(
    private readonly database: Database,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly deliveries: DueDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
    private readonly metrics: Metrics,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('cancellations', () => this.rounds.run(() => this.polls.areHeld));
  }

  /** Lists the cancellations, and forgets the passes of those that are done. */
  private async list(): Promise<PendingCancellation[]> {
    const cancellations = await this.cancellations.list();
    const keys = new Set(cancellations.map(keyOf));
    for (const key of this.passes.keys()) if (!keys.has(key)) this.passes.delete(key);
    return cancellations;
  }

  /**
   * Cancels the next deliveries of a cancellation.
   * @returns whether there may be more to cancel now
   */
  private step(cancellation: PendingCancellation, size: number): Promise<boolean> {
    const { tenantId, endpointId, activation, isSettled } = cancellation;
    const key = keyOf(cancellation);
    const known = this.passes.get(key);
    // A cancellation that has begun again, after another edit, is not settled any more.
    const pass =
      known && (isSettled || !known.isLast) ? known : { after: BEFORE_ALL_UNOWED, isLast: isSettled };
    return this.database.orderedTransaction(async (tx) => {
      if (!(await this.cancellations.lock(tx, cancellation))) return false;
      const target = { tenantId, id: endpointId };
      const { deleted, last, seen } = await this.deliveries.deleteUnowed(
        tx,
        target,
        activation,
        pass.after,
        size,
      );
      if (deleted.length > 0) {
        this.history.insertCancelledPipelined(tx, deleted);
        this.outcomes.insertPipelined(
          tx,
          deleted.map((one) => ({ ...one, status: 'CANCELLED' })),
        );
        await this.cancellations.advance(tx, cancellation, deleted.length);
      }
      const isAtEnd = seen < size;
      // Deliveries that were in flight are behind the position: the last pass looks at all of them again.
      const next =
        isAtEnd && isSettled && !pass.isLast
          ? { after: BEFORE_ALL_UNOWED, isLast: true }
          : { ...pass, after: last ?? pass.after };
      const isDone = isAtEnd && pass.isLast;
      if (isDone) await this.cancellations.delete(tx, cancellation);
      tx.onCommit(() => {
        if (isDone) this.passes.delete(key);
        else this.passes.set(key, next);
        this.metrics.webhookDeliveries.inc({ status: 'cancelled' }, deleted.length);
      });
      return !isAtEnd;
    });
  }
}

function keyOf({ endpointId, activation }: PendingCancellation): string {
  return `${endpointId}:${activation}`;
}
