import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { DeliveryQueue } from './delivery.queue';
import { RecordedAttempt } from './pending-deliveries.repository';
import { EndpointHealth } from './endpoint-health';

/** What follows from a recorded attempt: the wake-up for its retry, figures, and what it says of its endpoint. */
@Injectable()
export class AttemptFollowUp {
  private readonly logger = new Logger(AttemptFollowUp.name);

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly metrics: Metrics,
    private readonly health: EndpointHealth,
  ) {}

  /** Asks all processes for another turn of endpoints. */
  share(endpointIds: string[]): void {
    this.queue.share(endpointIds);
  }

  async after(attempt: RecordedAttempt): Promise<void> {
    const { delivery, retryDelayMs } = attempt;
    if (retryDelayMs !== null) this.queue.wakeIn(delivery.endpointId, retryDelayMs);
    this.count(attempt);
    if (attempt.status === 'EXHAUSTED') this.report(attempt);
    await this.health.observe(attempt);
  }

  /** The one line of the log by which an operator sees that an endpoint has missed something. */
  private report({ delivery, outcome }: RecordedAttempt): void {
    const { id: deliveryId, endpointId, tenantId, eventType: event } = delivery;
    const { statusCode, error } = outcome;
    const what = { tenantId, endpointId, deliveryId, event, statusCode, error };
    this.logger.warn(what, 'a webhook was not delivered: its last attempt failed');
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
