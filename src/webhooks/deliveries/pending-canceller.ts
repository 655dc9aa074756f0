import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { StepRounds } from '../../common/step-rounds';
import { Database } from '../../database/database';
import { Polls } from '../../database/polls';
import { Metrics } from '../../metrics/metrics';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import {
  PendingCancellation,
  PendingCancellationsRepository,
} from '../endpoints/pending-cancellations.repository';
import { BEFORE_ALL_STALE, DueDeliveriesRepository, StalePosition } from './due-deliveries.repository';

const BATCH = 200;
/** Wait between batches, so that cancelling slows no other workspace. */
const PAUSE_MS = 25;

/**
 * Cancels the deliveries that former activations of endpoints are owed, in small steps. Deliveries and
 * progress commit together, so that another worker continues after a killed one.
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
   * Positions of the cancellations that this process works on. Each step goes on behind the rows that the
   * last one has deleted, which a snapshot may keep.
   */
  private readonly positions = new Map<string, StalePosition>();

  constructor(
    private readonly database: Database,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly deliveries: DueDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly metrics: Metrics,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('cancellations', () => this.rounds.run(() => this.polls.isStopped));
  }

  /** Lists the cancellations, and forgets the positions of those that are done. */
  private async list(): Promise<PendingCancellation[]> {
    const cancellations = await this.cancellations.list();
    const keys = new Set(cancellations.map(keyOf));
    for (const key of this.positions.keys()) if (!keys.has(key)) this.positions.delete(key);
    return cancellations;
  }

  /**
   * Cancels the next deliveries of a cancellation.
   * @returns whether there may be more to cancel now
   */
  private step(cancellation: PendingCancellation, size: number): Promise<boolean> {
    const { tenantId, endpointId, activation, isSettled } = cancellation;
    const key = keyOf(cancellation);
    const after = this.positions.get(key);
    return this.database.orderedTransaction(async (tx) => {
      if (!(await this.cancellations.lock(tx, cancellation))) return false;
      const cancelled = await this.deliveries.deleteStale(
        tx,
        { tenantId, id: endpointId },
        activation,
        after ?? BEFORE_ALL_STALE,
        size,
      );
      if (cancelled.length > 0) {
        this.history.insertCancelledPipelined(tx, cancelled);
        await this.cancellations.advance(tx, cancellation, cancelled.length);
        tx.onCommit(() => {
          this.positions.set(key, cancelled.reduce(later));
          this.metrics.webhookDeliveries.inc({ status: 'cancelled' }, cancelled.length);
        });
      } else if (isSettled) {
        // Deliveries that were in flight are behind the position: the next run looks at all of them again.
        if (after) this.positions.delete(key);
        else await this.cancellations.delete(tx, cancellation);
      }
      return cancelled.length === size;
    });
  }
}

function keyOf({ endpointId, activation }: PendingCancellation): string {
  return `${endpointId}:${activation}`;
}

function later<T extends StalePosition>(one: T, other: T): T {
  const difference =
    one.activation - other.activation ||
    Number(one.recovered) - Number(other.recovered) ||
    one.nextAttemptAt.getTime() - other.nextAttemptAt.getTime();
  return difference > 0 ? one : other;
}
