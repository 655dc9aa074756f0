import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeliveryQueue } from '../deliveries/delivery.queue';
import { EndpointSubscription } from '../endpoints/endpoint-subscription';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

const INTERVAL_MS = 1_000;
const BATCH = 500;

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
    private readonly subscription: EndpointSubscription,
    private readonly queue: DeliveryQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.runs.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.runs.stop();
  }

  private async runAll(): Promise<void> {
    while (!this.runs.isStopped && (await this.runBatch()));
  }

  /** @returns whether there was anything to do */
  private runBatch(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const recovery = await this.recoveries.lockNextRunning(tx, this.lastId);
      if (!recovery) return false;
      this.lastId = recovery.id;
      await this.recoveries.advance(tx, await this.step(tx, recovery));
      return true;
    });
  }

  private async step(tx: Transaction, recovery: WebhookRecoveryEntity): Promise<WebhookRecoveryEntity> {
    const { tenantId, endpointId, until, cursor } = recovery;
    const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
    if (!endpoint?.active) return { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
    const types = await this.subscription.typesOf(tx, endpoint);
    const range = { tenantId, endpointId, after: cursor, until, types };
    const events = await this.recoveries.nextEvents(tx, range, BATCH);
    const missed = await this.recoveries.findMissed(tx, range, events);
    const recovered = await this.recoveries.enqueue(tx, range, missed);
    if (recovered > 0) tx.onCommit(() => this.queue.wake([endpointId]));
    const isLast = events.length < BATCH;
    return {
      ...recovery,
      recovered: recovery.recovered + recovered,
      cursor: events.at(-1)?.id ?? cursor,
      status: isLast ? 'COMPLETED' : 'RUNNING',
      finishedAt: isLast ? new Date() : null,
    };
  }
}
