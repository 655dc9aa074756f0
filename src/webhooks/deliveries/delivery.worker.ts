import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { LeaseWorker } from '../../queue/lease-worker';
import { LoadControl } from '../../queue/load-control';
import { InjectStartCapacity, ItemResult, StartCapacity } from '../../queue/start-capacity';
import { Target } from '../../queue/targets';
import { WakeUps } from '../../queue/wake-ups';
import { AttemptRecord, Delivery, DELIVERY_QUEUE } from './delivery';
import { DeliveryAttempter } from './delivery-attempter';
import { DeliveryClaimer } from './delivery-claimer';
import { EndpointHealth } from './endpoint-health';

/** Attempts deliveries while slots are free, schedules retries, and updates metrics and endpoint health. */
@Injectable()
export class DeliveryWorker {
  readonly runner: LeaseWorker<Delivery>;
  private readonly logger = new Logger(DeliveryWorker.name);
  private readonly load: LoadControl;

  constructor(
    @InjectStartCapacity(DELIVERY_QUEUE) private readonly capacity: StartCapacity,
    private readonly wakeUps: WakeUps,
    claimer: DeliveryClaimer,
    private readonly attempter: DeliveryAttempter,
    private readonly health: EndpointHealth,
    private readonly metrics: Metrics,
  ) {
    this.load = new LoadControl(capacity);
    this.runner = new LeaseWorker<Delivery>(capacity, {
      logger: this.logger,
      claim: (target, count) => claimer.claim(target, count),
      process: (target, delivery) => this.process(target, delivery),
      wakeOtherWorkers: (target) => wakeUps.wakeOthers(DELIVERY_QUEUE, target),
    });
    wakeUps.register(DELIVERY_QUEUE, this.runner);
  }

  private async process(target: Target, delivery: Delivery): Promise<void> {
    this.load.noteUse();
    this.metrics.webhookDeliveriesInFlight.inc();
    try {
      const record = await this.attempter.attempt(delivery).catch((error: Error) =>
        // The error is only logged, because the delivery is attempted again when its lease ends.
        this.logFailure(error, target, delivery, 'an attempt was not recorded'),
      );
      if (record?.outcome) await this.follow(target, record);
      else if (record) this.wakeUps.wakeIn(DELIVERY_QUEUE, target, record.retryDelayMs!);
    } catch (error) {
      this.logFailure(error as Error, target, delivery, 'a recorded attempt was not followed up');
    } finally {
      this.metrics.webhookDeliveriesInFlight.dec();
    }
  }

  private logFailure(
    error: Error,
    { tenantId, id: endpointId }: Target,
    { id }: Delivery,
    what: string,
  ): void {
    this.logger.error({ err: error, tenantId, endpointId, deliveryId: id }, what);
  }

  private async follow(target: Target, record: AttemptRecord): Promise<void> {
    this.capacity.note(target.id, resultOf(record));
    if (record.retryDelayMs !== null) this.wakeUps.wakeIn(DELIVERY_QUEUE, target, record.retryDelayMs);
    this.countAttempt(record);
    if (record.status === 'EXHAUSTED') this.logExhausted(record);
    await this.health.observe(record);
  }

  private countAttempt({ delivery, outcome, status, retryDelayMs }: AttemptRecord): void {
    this.metrics.webhookAttempts.inc({ outcome: outcome?.error ?? 'succeeded' });
    if (retryDelayMs !== null) this.metrics.webhookRetries.inc();
    else this.metrics.webhookDeliveries.inc({ status: status.toLowerCase() });
    if (status === 'SUCCEEDED') {
      this.metrics.webhookLatency.observe((Date.now() - delivery.event.createdAt.getTime()) / 1000);
    }
  }

  /** Logs that an endpoint will not get an event, because no other log line says so. */
  private logExhausted({ delivery, outcome }: AttemptRecord): void {
    const { id: deliveryId, endpoint, event } = delivery;
    const { tenantId, id: endpointId } = endpoint;
    const { statusCode, error } = outcome!;
    const details = { tenantId, endpointId, deliveryId, event: event.type, statusCode, error };
    this.logger.warn(details, 'delivery exhausted: its last attempt failed');
  }
}

function resultOf({ outcome }: AttemptRecord): ItemResult {
  if (outcome?.error === 'timeout') return 'timeout';
  return outcome?.kind === 'succeeded' ? 'succeeded' : 'failed';
}
