import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config';
import { DatabaseClock } from '../../database/database-clock';
import { Metrics } from '../../metrics/metrics';
import { LeaseWorker } from '../../queue/lease-worker';
import { LoadControl } from '../../queue/load-control';
import { Slots } from '../../queue/slots';
import { Target } from '../../queue/target';
import { AttemptRecord, Delivery } from './delivery';
import { DeliveryAttempter } from './delivery-attempter';
import { DeliveryClaimer } from './delivery-claimer';
import { DeliveryQueue } from './delivery-queue';
import { DeliverySignal } from './delivery-signal';
import { EndpointHealth } from './endpoint-health';

/** Attempts deliveries in the slots of this process. */
@Injectable()
export class DeliveryWorker extends LeaseWorker<Delivery> implements OnModuleInit {
  private readonly logger = new Logger(DeliveryWorker.name);
  private readonly loadControl: LoadControl;

  constructor(
    { webhookConcurrency, webhookEndpointConcurrency, webhookSlowConcurrency }: Config,
    private readonly claimer: DeliveryClaimer,
    private readonly attempter: DeliveryAttempter,
    private readonly queue: DeliveryQueue,
    private readonly signal: DeliverySignal,
    private readonly health: EndpointHealth,
    private readonly clock: DatabaseClock,
    private readonly metrics: Metrics,
  ) {
    super(
      new Slots({
        total: webhookConcurrency,
        perTarget: webhookEndpointConcurrency,
        slow: webhookSlowConcurrency,
        startSlow: true,
      }),
    );
    this.loadControl = new LoadControl(this.slots, webhookConcurrency);
  }

  onModuleInit(): void {
    this.loadControl.start();
    this.signal.onSignal((target) => this.wake([target]));
  }

  protected override isPaused(target: Target): boolean {
    return !this.clock.isTrusted || this.claimer.isPaused(target);
  }

  protected override claim(target: Target, count: number): Promise<Delivery[]> {
    return this.claimer.claim(target, count);
  }

  protected override async process(target: Target, delivery: Delivery): Promise<void> {
    this.metrics.webhookDeliveriesInFlight.inc();
    try {
      const record = await this.attempter.attempt(delivery);
      if (record.outcome) await this.follow(target, record);
      else this.queue.wake([target]);
    } catch (error) {
      // The delivery is attempted again when its lease ends.
      const { tenantId, id: endpointId } = target;
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId: delivery.id },
        'an attempt was not recorded',
      );
    } finally {
      this.metrics.webhookDeliveriesInFlight.dec();
    }
  }

  protected override wakeOtherWorkers(targets: Target[]): void {
    this.queue.enqueue(targets);
  }

  /** Schedules the wake-up for a retry, counts a recorded attempt, and updates the endpoint's health. */
  private async follow(target: Target, record: AttemptRecord): Promise<void> {
    this.slots.setSlow(target.id, record.outcome?.error === 'timeout');
    if (record.retryDelayMs !== null) this.queue.wakeIn(target, record.retryDelayMs);
    this.count(record);
    if (record.status === 'EXHAUSTED') this.logExhausted(record);
    await this.health.observe(record);
  }

  private count({ delivery, outcome, status, retryDelayMs }: AttemptRecord): void {
    this.metrics.webhookAttempts.inc({ outcome: outcome?.error ?? 'succeeded' });
    if (retryDelayMs !== null) this.metrics.webhookRetries.inc();
    else this.metrics.webhookDeliveries.inc({ status: status.toLowerCase() });
    if (status === 'SUCCEEDED') {
      this.metrics.webhookLatency.observe((Date.now() - delivery.event.createdAt.getTime()) / 1000);
    }
  }

  /** Logs that an endpoint did not get an event. No other log line says so. */
  private logExhausted({ delivery, outcome }: AttemptRecord): void {
    const { id: deliveryId, endpoint, event } = delivery;
    const { tenantId, id: endpointId } = endpoint;
    const { statusCode, error } = outcome!;
    const details = { tenantId, endpointId, deliveryId, event: event.type, statusCode, error };
    this.logger.warn(details, 'delivery exhausted: its last attempt failed');
  }
}
