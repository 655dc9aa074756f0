import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Database, Transaction } from '../../database/database';
import { DeliveryQueue } from '../deliveries/delivery.queue';
import { EndpointSubscription } from '../endpoints/endpoint-subscription';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

const INTERVAL_MS = 1_000;
const BATCH = 500;

/**
 * Carries out recoveries in small batches. Deliveries and progress are committed together, so that a killed worker's
 * recovery goes on elsewhere, from where it was.
 */
@Injectable()
export class RecoveryRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RecoveryRunner.name);
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly subscription: EndpointSubscription,
    private readonly queue: DeliveryQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.running = this.runAll().then(() => {
        if (!this.stopping) this.schedule();
      });
    }, INTERVAL_MS);
  }

  private async runAll(): Promise<void> {
    try {
      while (!this.stopping && (await this.runBatch()));
    } catch (error) {
      this.logger.error({ err: error as Error }, 'a recovery was interrupted; it goes on shortly');
    }
  }

  /** @returns whether there was anything to do */
  private runBatch(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const recovery = await this.recoveries.lockRunning(tx);
      if (!recovery) return false;
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
    const missed = await this.recoveries.missed(tx, range, events);
    const owed = await this.recoveries.owe(tx, range, missed);
    if (owed > 0) tx.onCommit(() => this.queue.wake([endpointId]));
    const isLast = events.length < BATCH;
    return {
      ...recovery,
      recovered: recovery.recovered + owed,
      cursor: events.at(-1)?.id ?? cursor,
      status: isLast ? 'COMPLETED' : 'RUNNING',
      finishedAt: isLast ? new Date() : null,
    };
  }
}
