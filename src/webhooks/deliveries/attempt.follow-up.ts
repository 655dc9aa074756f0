import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { DeliveryQueue } from './delivery.queue';
import { RecordedAttempt } from './pending-deliveries.repository';
import { EndpointHealth } from './endpoint-health';

/** After an attempt is recorded: schedules the wake-up for its retry, counts it, updates the endpoint's health. */
@Injectable()
export class AttemptFollowUp {
  private readonly logger = new Logger(AttemptFollowUp.name);

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly metrics: Metrics,
    private readonly health: EndpointHealth,
  ) {}

  wakeOtherWorkers(endpointIds: string[]): void {
    this.queue.enqueue(endpointIds);
  }

  async after(attempt: RecordedAttempt): Promise<void> {
    const { delivery, retryDelayMs } = attempt;
    if (retryDelayMs !== null) this.queue.wakeIn(delivery.endpointId, retryDelayMs);
    this.count(attempt);
    if (attempt.status === 'EXHAUSTED') this.logExhausted(attempt);
    await this.health.observe(attempt);
  }

  /** The only log line about an event that an endpoint did not get. */
  private logExhausted({ delivery, outcome }: RecordedAttempt): void {
    const { id: deliveryId, endpointId, tenantId, eventType: event } = delivery;
    const { statusCode, error } = outcome;
    const details = { tenantId, endpointId, deliveryId, event, statusCode, error };
    this.logger.warn(details, 'delivery exhausted: its last attempt failed');
  }

  private count({ delivery, outcome, status, retryDelayMs }: RecordedAttempt): void {
    this.metrics.webhookAttempts.inc({ outcome: outcome.error ?? 'succeeded' });
    if (retryDelayMs !== null) this.metrics.webhookRetries.inc();
    else this.metrics.webhookDeliveries.inc({ status: status.toLowerCase() });
    if (status === 'SUCCEEDED') {
      this.metrics.webhookLatency.observe((Date.now() - delivery.eventCreatedAt.getTime()) / 1000);
    }
  }
}
