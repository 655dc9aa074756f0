import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { StepRounds } from '../../common/step-rounds';
import { Database } from '../../database/database';
import { Metrics } from '../../metrics/metrics';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import {
  PendingCancellation,
  PendingCancellationsRepository,
} from '../endpoints/pending-cancellations.repository';
import { DueDeliveriesRepository } from './due-deliveries.repository';

const INTERVAL_MS = 1_000;
const BATCH = 200;
/** Wait between batches, so that cancelling slows no other workspace. */
const PAUSE_MS = 25;

/**
 * Cancels the deliveries that former activations of endpoints are owed, in small steps. Deliveries and
 * progress commit together, so that another worker continues after a killed one.
 */
@Injectable()
export class PendingCanceller implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(PendingCanceller.name);
  private readonly rounds = new StepRounds<PendingCancellation>({
    size: BATCH,
    pauseMs: PAUSE_MS,
    restMs: INTERVAL_MS,
    list: () => this.cancellations.list(),
    keyOf: ({ endpointId, activation }) => `${endpointId}:${activation}`,
    step: (cancellation, size) => this.step(cancellation, size),
    onError: ({ tenantId, endpointId }, err, deliveries) =>
      this.logger.error(
        { err, tenantId, endpointId, deliveries },
        'a step of a cancellation failed; it will be retried',
      ),
  });
  private readonly runs = new Periodic(
    INTERVAL_MS,
    () => this.rounds.run(() => this.runs.isStopped),
    (error) => this.logger.error({ err: error }, 'looking for cancellations failed; it will be retried'),
  );

  constructor(
    private readonly database: Database,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly deliveries: DueDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.runs.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.runs.stop();
  }

  /**
   * Cancels the next deliveries of a cancellation.
   * @returns whether there may be more to cancel now
   */
  private step(cancellation: PendingCancellation, size: number): Promise<boolean> {
    const { tenantId, endpointId, activation, isSettled } = cancellation;
    return this.database.queueTransaction(async (tx) => {
      if (!(await this.cancellations.lock(tx, cancellation))) return false;
      const cancelled = await this.deliveries.deleteStale(tx, { tenantId, id: endpointId }, activation, size);
      if (cancelled.length > 0) {
        this.history.insertCancelledPipelined(tx, cancelled);
        await this.cancellations.advance(tx, cancellation, cancelled.length);
        tx.onCommit(() => this.metrics.webhookDeliveries.inc({ status: 'cancelled' }, cancelled.length));
      } else if (isSettled) await this.cancellations.delete(tx, cancellation);
      return cancelled.length === size;
    });
  }
}
