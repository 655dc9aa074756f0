import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Time in milliseconds between two timers that measure the lag of the event loop. */
const LAG_SAMPLE_MS = 20;
const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DELIVERY = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Metrics of the process. `docs/reference/metrics.md` explains each one, and what to do when it rises. */
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

  readonly httpConnections = new Gauge({
    name: 'http_connections',
    help: 'Open connections of clients to this process: streams, and the others.',
    labelNames: ['kind'] as const,
    registers: [this.registry],
  });

  readonly httpConnectionsClosed = new Counter({
    name: 'http_connections_closed_total',
    help: 'Connections that this process ended or refused, by reason.',
    labelNames: ['reason'] as const,
    registers: [this.registry],
  });

  readonly apiKeysRefused = new Counter({
    name: 'api_keys_refused_total',
    help: 'Requests with an API key that was refused: malformed ones, and others.',
    labelNames: ['reason'] as const,
    registers: [this.registry],
  });

  readonly httpUnfinishedBytes = new Gauge({
    name: 'http_unfinished_body_bytes',
    help: 'Bytes of bodies that have not arrived completely.',
    registers: [this.registry],
  });

  readonly httpBodiesRefused = new Counter({
    name: 'http_bodies_refused_total',
    help: 'Bodies refused because this process held too many unfinished ones.',
    registers: [this.registry],
  });

  readonly rateLimiterFallbacks = new Counter({
    name: 'rate_limiter_fallbacks_total',
    help: 'Times the rate limiter fell back from Redis to the memory of this process.',
    registers: [this.registry],
  });

  readonly workRefused = new Counter({
    name: 'work_refused_total',
    help: 'Requests, searches and streams refused because too many were in flight, of their key or of the process.',
    labelNames: ['kind', 'limit'] as const,
    registers: [this.registry],
  });

  readonly outboxRelayed = new Counter({
    name: 'outbox_events_relayed_total',
    help: 'Events that this process relayed to their consumers.',
    registers: [this.registry],
  });

  readonly outboxParked = new Counter({
    name: 'outbox_events_parked_total',
    help: 'Events that a consumer could not take in, by consumer.',
    labelNames: ['consumer'] as const,
    registers: [this.registry],
  });

  readonly webhookAttempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Webhook attempts by outcome: succeeded, or the class of the failure.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });

  readonly webhookDeliveries = new Counter({
    name: 'webhook_deliveries_finished_total',
    help: 'Deliveries that this process finished, by status.',
    labelNames: ['status'] as const,
    registers: [this.registry],
  });

  readonly webhookRetries = new Counter({
    name: 'webhook_retries_scheduled_total',
    help: 'Failed attempts that will be retried.',
    registers: [this.registry],
  });

  readonly webhookLatency = new Histogram({
    name: 'webhook_delivery_latency_seconds',
    help: "From an event's commit to its receiver's 2xx.",
    buckets: DELIVERY,
    registers: [this.registry],
  });

  readonly webhookLeasesExpired = new Counter({
    name: 'webhook_leases_expired_total',
    help: 'Events and deliveries claimed again after an expired lease.',
    registers: [this.registry],
  });

  readonly webhookDeliveriesInFlight = new Gauge({
    name: 'webhook_deliveries_in_flight',
    help: 'Webhook attempts of this process that wait for a response now.',
    registers: [this.registry],
  });

  readonly outboundMessages = new Counter({
    name: 'outbound_messages_total',
    help: 'Attempts to send an outbound message, by outcome, and messages that could not be routed.',
    labelNames: ['channel', 'outcome'] as const,
    registers: [this.registry],
  });

  readonly outboundMessageLatency = new Histogram({
    name: 'outbound_message_latency_seconds',
    help: "From an outbound message's commit to its provider's acceptance.",
    labelNames: ['channel'] as const,
    buckets: DELIVERY,
    registers: [this.registry],
  });

  readonly outboundMessagesInFlight = new Gauge({
    name: 'outbound_messages_in_flight',
    help: "Requests of this process that wait for a provider's response now.",
    registers: [this.registry],
  });

  readonly visitorStreams = new Gauge({
    name: 'visitor_streams',
    help: 'Open streams of widget visitors in this process.',
    registers: [this.registry],
  });

  readonly searchIndexed = new Counter({
    name: 'message_search_indexed_total',
    help: 'Messages whose words this process added to the index of the search.',
    registers: [this.registry],
  });

  readonly searchLag = new Histogram({
    name: 'message_search_lag_seconds',
    help: "From a new message's creation to its words in the index of the search.",
    buckets: DELIVERY,
    registers: [this.registry],
  });

  readonly searchFilling = new Gauge({
    name: 'message_search_filling_workspaces',
    help: 'Workspaces whose old messages are still being added to the index of the search, as far as this worker knows.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  }
}
