import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Periodic } from '../../common/periodic';
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
  private readonly runs = new Periodic(
    INTERVAL_MS,
    () => this.runAll(),
    (error) => this.logger.error({ err: error }, 'a step of a cancellation failed; it will be retried'),
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

  /** Runs one step of each cancellation in turn, so that a big one delays no other. */
  private async runAll(): Promise<void> {
    let remaining = await this.cancellations.list();
    while (remaining.length > 0 && !this.runs.isStopped) {
      const unfinished: PendingCancellation[] = [];
      for (const cancellation of remaining) {
        if (this.runs.isStopped) return;
        if (await this.step(cancellation)) unfinished.push(cancellation);
        await sleep(PAUSE_MS);
      }
      remaining = unfinished;
    }
  }

  /**
   * Cancels the next deliveries of a cancellation.
   * @returns whether there may be more to cancel now
   */
  private step(cancellation: PendingCancellation): Promise<boolean> {
    const { tenantId, endpointId, activation, isSettled } = cancellation;
    return this.database.queueTransaction(async (tx) => {
      if (!(await this.cancellations.lock(tx, cancellation))) return false;
      const cancelled = await this.deliveries.deleteStale(
        tx,
        { tenantId, id: endpointId },
        activation,
        BATCH,
      );
      if (cancelled.length > 0) {
        this.history.insertCancelledPipelined(tx, cancelled);
        await this.cancellations.advance(tx, cancellation, cancelled.length);
        tx.onCommit(() => this.metrics.webhookDeliveries.inc({ status: 'cancelled' }, cancelled.length));
      } else if (isSettled) await this.cancellations.delete(tx, cancellation);
      return cancelled.length === BATCH;
    });
  }
}
