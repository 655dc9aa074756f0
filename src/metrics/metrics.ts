import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Milliseconds between two measurements of the event loop's lag. */
const LAG_SAMPLE_MS = 100;
const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DELIVERY = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Metrics of the process. `docs/reference/metrics.md` explains each metric, and its remedy. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly httpRequests = this.histogram(
    'http_request_duration_seconds',
    'REST requests by route template and status.',
    FAST,
    'method',
    'route',
    'status',
  );
  readonly httpConnections = this.gauge(
    'http_connections',
    'Open connections of clients to this process: streams, and the others.',
    'kind',
  );
  readonly httpConnectionsClosed = this.counter(
    'http_connections_closed_total',
    'Connections that this process ended or refused, by reason.',
    'reason',
  );
  readonly apiKeysRefused = this.counter(
    'api_keys_refused_total',
    'Requests with an API key that was refused: malformed ones, and others.',
    'reason',
  );
  readonly httpUnfinishedBytes = this.gauge(
    'http_unfinished_body_bytes',
    'Bytes of bodies that have not arrived completely.',
  );
  readonly httpBodiesRefused = this.counter(
    'http_bodies_refused_total',
    'Bodies refused because this process held too many unfinished ones.',
  );
  readonly rateLimiterFallbacks = this.counter(
    'rate_limiter_fallbacks_total',
    'Times the rate limiter fell back from Redis to the memory of this process.',
  );
  readonly workRefused = this.counter(
    'work_refused_total',
    'Requests, searches and streams refused because too many were in flight, of their key or of the process.',
    'kind',
    'limit',
  );
  readonly outboxRelayed = this.counter(
    'outbox_events_relayed_total',
    'Events that this process relayed to their consumers.',
  );
  readonly outboxParked = this.counter(
    'outbox_events_parked_total',
    'Events that a consumer could not take in, by consumer.',
    'consumer',
  );
  readonly webhookAttempts = this.counter(
    'webhook_attempts_total',
    'Webhook attempts by outcome: succeeded, or the class of the failure.',
    'outcome',
  );
  readonly webhookDeliveries = this.counter(
    'webhook_deliveries_finished_total',
    'Deliveries that this process finished, by status.',
    'status',
  );
  readonly webhookRetries = this.counter(
    'webhook_retries_scheduled_total',
    'Failed attempts that will be retried.',
  );
  readonly webhookLatency = this.histogram(
    'webhook_delivery_latency_seconds',
    "From an event's commit to its receiver's 2xx.",
    DELIVERY,
  );
  readonly webhookLeasesExpired = this.counter(
    'webhook_leases_expired_total',
    'Events and deliveries claimed again after an expired lease.',
  );
  readonly webhookProbes = this.counter(
    'webhook_probes_total',
    'Probes of endpoints that are recovered automatically.',
  );
  readonly webhookAutomaticRecoveries = this.counter(
    'webhook_automatic_recoveries_total',
    'Automatic recoveries that ended, by outcome: finished, or stopped and left to the owner.',
    'outcome',
  );
  readonly webhookDeliveriesInFlight = this.gauge(
    'webhook_deliveries_in_flight',
    'Webhook attempts of this process that wait for a response now.',
  );
  readonly outboundMessages = this.counter(
    'outbound_messages_total',
    'Attempts to send an outbound message, by outcome, and messages that could not be routed.',
    'channel',
    'outcome',
  );
  readonly outboundMessageLatency = this.histogram(
    'outbound_message_latency_seconds',
    "From an outbound message's commit to its provider's acceptance.",
    DELIVERY,
    'channel',
  );
  readonly attachmentFetches = this.counter(
    'attachment_fetches_total',
    "Tries to fetch a file of a customer's message, by outcome.",
    'outcome',
  );
  readonly noticeMails = this.counter('notice_mails_total', 'Tries to mail a notice, by outcome.', 'outcome');
  readonly noticePushes = this.counter(
    'notice_pushes_total',
    'Tries to push a notice to a browser, by outcome.',
    'outcome',
  );
  readonly outboundMessagesInFlight = this.gauge(
    'outbound_messages_in_flight',
    "Requests of this process that wait for a provider's response now.",
  );
  readonly visitorStreams = this.gauge('visitor_streams', 'Open streams of widget visitors in this process.');
  readonly searchIndexed = this.counter(
    'message_search_indexed_total',
    'Messages whose words this process added to the index of the search.',
  );
  readonly searchLag = this.histogram(
    'message_search_lag_seconds',
    "From a new message's creation to its words in the index of the search.",
    DELIVERY,
  );
  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  }

  gauge<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private counter<Label extends string = never>(
    name: string,
    help: string,
    ...labelNames: Label[]
  ): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.registry] });
  }
}
