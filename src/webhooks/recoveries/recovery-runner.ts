import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { DatabaseClock } from '../../database/database-clock';
import { Transaction } from '../../database/transaction';
import { DeliveryQueue } from '../deliveries/delivery-queue';
import { NO_FAILURE, PendingDeliveriesRepository } from '../deliveries/pending-deliveries.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { RecoverySteps } from './recovery-steps';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

const INTERVAL_MS = 500;
/** While so many deliveries of a recovery wait, it adds none. */
const ENOUGH_PENDING = 2_000;

/**
 * Runs recoveries in small batches, round-robin. Deliveries and progress commit together, so that another worker
 * continues the recovery of a killed one.
 */
@Injectable()
export class RecoveryRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RecoveryRunner.name);
  private readonly runs = new Periodic(
    INTERVAL_MS,
    () => this.runAll(),
    (error) => this.logger.error({ err: error }, 'a batch of a recovery failed; it will be retried'),
  );

  /** The recovery of the last batch. The next batch is of another, so that a big one delays no other. */
  private lastId = idFloor(new Date(0));

  constructor(
    private readonly database: Database,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly steps: RecoverySteps,
    private readonly pending: PendingDeliveriesRepository,
    private readonly queue: DeliveryQueue,
    private readonly clock: DatabaseClock,
  ) {}

  onApplicationBootstrap(): void {
    this.runs.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.runs.stop();
  }

  private async runAll(): Promise<void> {
    if (!(await this.recoveries.isAnyRunning())) return;
    while (!this.runs.isStopped && this.clock.isTrusted && (await this.runBatch()));
  }

  /** @returns whether there was anything to do */
  private runBatch(): Promise<boolean> {
    return this.database.queueTransaction(async (tx) => {
      const recovery = await this.recoveries.lockNextRunning(tx, this.lastId);
      if (!recovery) return false;
      this.lastId = recovery.id;
      const after = await this.step(tx, recovery);
      if (after === null) return false;
      await this.recoveries.advance(tx, after);
      return true;
    });
  }

  /** @returns the recovery's row; null while enough of it is pending, or while it must wait for the relay */
  private async step(
    tx: Transaction,
    recovery: WebhookRecoveryEntity,
  ): Promise<WebhookRecoveryEntity | null> {
    const { tenantId, endpointId } = recovery;
    const [endpoint] = await this.endpoints.lockSubscribers(tx, [{ tenantId, id: endpointId }]);
    if (!endpoint) return { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
    const { activation } = endpoint;
    const target = { tenantId, id: endpointId, old: true };
    if ((await this.pending.countRecovered(tx, target, activation, ENOUGH_PENDING)) === ENOUGH_PENDING)
      return null;
    const step = await this.steps.next(tx, recovery, endpoint);
    if (!step) return null;
    const { rounds, cursor, isLast } = step;
    if (rounds.length > 0) {
      const recovered = { activation, attemptCount: 0, recovered: true, delayMs: 0, ...NO_FAILURE };
      this.pending.insertPipelined(
        tx,
        rounds.map((round) => ({ ...round, ...recovered })),
      );
      if (endpoint.maySend) tx.onCommit(() => this.queue.wake([target]));
    }
    return {
      ...recovery,
      recovered: recovery.recovered + rounds.length,
      cursor,
      status: isLast ? 'COMPLETED' : 'RUNNING',
      finishedAt: isLast ? new Date() : null,
    };
  }
}
