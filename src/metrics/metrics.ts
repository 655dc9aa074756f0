import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DELIVERY = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Everything this process counts. `docs/metrics.md` says what each tells, and what to do when it rises. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly httpRequests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'REST requests by route template and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: FAST,
    registers: [this.registry],
  });

  readonly rateLimiterFallbacks = new Counter({
    name: 'rate_limiter_fallbacks_total',
    help: 'Times the limiter gave up on Redis and counted in this process alone.',
    registers: [this.registry],
  });

  readonly outboxRelayed = new Counter({
    name: 'outbox_events_relayed_total',
    help: 'Events handed to their consumers by this process.',
    registers: [this.registry],
  });

  readonly webhookAttempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'POSTs made, by what came of them: succeeded, or the class of the failure.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });

  readonly webhookDeliveries = new Counter({
    name: 'webhook_deliveries_finished_total',
    help: 'Deliveries this process brought to an end.',
    labelNames: ['status'] as const,
    registers: [this.registry],
  });

  readonly webhookRetries = new Counter({
    name: 'webhook_retries_scheduled_total',
    help: 'Failed attempts that will be tried again.',
    registers: [this.registry],
  });

  readonly webhookLatency = new Histogram({
    name: 'webhook_delivery_latency_seconds',
    help: "From an event's making to its receiver's 2xx.",
    buckets: DELIVERY,
    registers: [this.registry],
  });

  readonly webhookLeasesExpired = new Counter({
    name: 'webhook_leases_expired_total',
    help: 'Deliveries taken over from a worker that did not finish them.',
    registers: [this.registry],
  });

  readonly webhooksUnderWay = new Gauge({
    name: 'webhook_deliveries_under_way',
    help: 'POSTs that this process waits for now.',
    registers: [this.registry],
  });

  readonly channelMessages = new Counter({
    name: 'channel_messages_total',
    help: 'Attempts to send a message to a customer, by what came of them, and messages that had no way to go.',
    labelNames: ['channel', 'outcome'] as const,
    registers: [this.registry],
  });

  readonly channelLatency = new Histogram({
    name: 'channel_message_latency_seconds',
    help: "From a message's commit to its provider's taking it.",
    labelNames: ['channel'] as const,
    buckets: DELIVERY,
    registers: [this.registry],
  });

  readonly channelMessagesUnderWay = new Gauge({
    name: 'channel_messages_under_way',
    help: "Providers' answers that this process waits for now.",
    registers: [this.registry],
  });

  readonly visitorStreams = new Gauge({
    name: 'visitor_streams',
    help: 'Visitors of pages that hear of messages from this process now.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
