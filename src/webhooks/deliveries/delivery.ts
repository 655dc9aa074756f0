import { hash } from 'node:crypto';
import { columnsOf, ListedColumn } from '../../database/rows-to-insert';
import { EventType, isTest } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import type { SubQueue } from '../../queue/floors/queue-floors';
import { StartBy } from '../../queue/start-capacity';
import { Target } from '../../queue/targets';
import { Signal } from '../../redis/redis-signals';
import { WebhookContext } from '../context/webhook-context';
import { Subscriber } from '../endpoints/subscribers.repository';
import { AttemptError, AttemptOutcome } from '../sending/attempt-outcome';
import { RequestContent } from '../sending/delivery-request';

/** Length of the digits of an id that are its time, with their hyphen. */
const TIMESTAMP_LENGTH = 13;

/** Queue of the jobs that wake workers for endpoints. */
export const DELIVERY_QUEUE = 'webhook-endpoints';
/** Names an endpoint to a worker when a delivery to it must not wait for the next poll. */
export const DELIVERY_DUE: Signal<Target> = { name: 'deliveries:due' };

/**
 * Lease of this process on a delivery: on its event until the first attempt is recorded, then on its row of
 * the pending deliveries.
 */
export interface Lease {
  id: string;
  on: 'event' | 'row';
}

/** Delivery of an event to an endpoint, and its progress. */
interface DeliveryState {
  id: string;
  event: OutboxEvent;
  endpoint: Subscriber;
  /** Number of the round. Each redelivery and each recovery begins a new one, from 1 on. */
  round: number;
  /** Number of attempts made in this round. */
  attemptCount: number;
  /** Whether a recovery made it pending. Recovered deliveries give way to live ones. */
  recovered: boolean;
  /**
   * Recovery that made the delivery and counts its end, even if a person brings it forward; null without one.
   */
  recoveryId: string | null;
}

/** Progress of a new delivery. */
export const NOT_ATTEMPTED = { round: 1, attemptCount: 0, recovered: false, recoveryId: null };

/** Delivery that this process has claimed. Only the lease's holder may attempt it. */
export interface Delivery extends DeliveryState {
  /** Lease of the delivery; null for a test, which is in no queue and has one attempt by its caller. */
  lease: Lease | null;
  startBy: StartBy;
}

/** Delivery that waits for a slot, a retry or the end of a lease. */
export interface PendingDelivery {
  tenantId: string;
  id: string;
  endpointId: string;
  /** Number of the endpoint's activation that is owed the delivery. */
  activation: number;
  eventId: string;
  eventType: string;
  round: number;
  attemptCount: number;
  recovered: boolean;
  /** HTTP status of the last attempt of this round; null without one. `lastError` is that attempt's error. */
  lastStatusCode: number | null;
  lastError: AttemptError | null;
}

/** Delivery that begins a round. */
export type NewRound = Pick<
  PendingDelivery,
  'tenantId' | 'id' | 'endpointId' | 'activation' | 'eventId' | 'eventType' | 'round'
>;

/** Consequence of an attempt. */
export interface AttemptRecord {
  delivery: Delivery;
  /** Outcome of the attempt; null when nothing was sent. */
  outcome: AttemptOutcome | null;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'PENDING';
  /** Time until the next attempt; null when the round is finished. */
  retryDelayMs: number | null;
}

/** Example of an event type, in the data of a test that sends it. */
export interface TestExample {
  event: EventType;
  data: object;
}

/**
 * Returns the content of the request for an event: of a test with an example, the example.
 * @param context context beside the event; null for none
 */
export function contentOf(
  deliveryId: string,
  { type, data, sequence }: OutboxEvent,
  context: WebhookContext | null = null,
): RequestContent {
  const { example } = isTest(type) ? (JSON.parse(data) as { example?: TestExample }) : {};
  const content = { deliveryId, sequence, context: context && JSON.stringify(context) };
  if (!example) return { ...content, eventType: type, data };
  const { event: eventType } = example;
  return { ...content, eventType, data: JSON.stringify(example.data), isExample: true };
}

/**
 * Returns the target of an endpoint's live or recovered deliveries. Recovered ones are its background work.
 */
export function targetOf({ tenantId, id }: { tenantId: string; id: string }, recovered: boolean): Target {
  return { tenantId, id, isBackground: recovered };
}

/** Names the sub-queue of an endpoint's live deliveries, or of its recovered ones. */
export function deliveriesSubQueue(tenantId: string, endpointId: string, recovered: boolean): SubQueue {
  return { queue: 'deliveries', tenantId, key: recovered ? `${endpointId}:recovered` : endpointId };
}

export function isForRecovered({ isBackground = false }: Target): boolean {
  return isBackground;
}

/**
 * Returns the id of an event's delivery to an endpoint. It is always the same, so the primary key keeps a
 * second delivery out. It is a UUID of version 8 (RFC 9562): the event's milliseconds, so that ids sort by
 * time, and a hash of both ids.
 */
export function deliveryIdOf(eventId: string, endpointId: string): string {
  const digest = hash('sha256', eventId + endpointId, 'hex');
  const variant = ((parseInt(digest[3]!, 16) & 0x3) | 0x8).toString(16);
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** Returns a lower bound of the ids of an event's deliveries. */
export function firstIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-0000-0000-000000000000`;
}

/**
 * Returns an upper bound of the ids of an event's deliveries. Deliveries of other events of the same
 * millisecond are within the bounds too.
 */
export function lastIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-ffff-ffff-ffffffffffff`;
}

/** Returns the row of a delivery, as if no attempt of its round had failed yet. */
export function toPending(delivery: DeliveryState): PendingDelivery {
  const { id, event, endpoint, round, attemptCount, recovered } = delivery;
  const keys = { tenantId: event.tenantId, id, endpointId: endpoint.id, activation: endpoint.activation };
  const progress = { round, attemptCount, recovered, lastStatusCode: null, lastError: null };
  return { ...keys, eventId: event.id, eventType: event.type, ...progress };
}

/** Returns the columns of rounds that are inserted among the pending deliveries. */
export function roundColumns(rounds: NewRound[]): ListedColumn[] {
  return columnsOf(rounds, {
    tenant_id: ['uuid', ({ tenantId }) => tenantId],
    id: ['uuid', ({ id }) => id],
    endpoint_id: ['uuid', ({ endpointId }) => endpointId],
    activation: ['integer', ({ activation }) => activation],
    event_id: ['uuid', ({ eventId }) => eventId],
    event_type: ['text', ({ eventType }) => eventType],
    round: ['smallint', ({ round }) => round],
  });
}
