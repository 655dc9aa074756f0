import { hash } from 'node:crypto';
import { columnsOf, ListedColumn } from '../../database/rows-to-insert';
import { EventType, isTest } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import type { SubQueue } from '../../queue/floors/queue-floors';
import { StartBy } from '../../queue/start-capacity';
import { Target } from '../../queue/targets';
import { WebhookContext } from '../context/webhook-context';
import { Subscriber } from '../endpoints/subscribers.repository';
import { AttemptError, AttemptOutcome } from '../sending/attempt-outcome';
import { RequestContent } from '../sending/delivery-request';

/** Characters at the start of a UUIDv7 that hold its time: 8 digits, a hyphen and 4 digits. */
const TIMESTAMP_LENGTH = 13;

/** Queue of the deliveries that are due, by endpoint. */
export const DELIVERY_QUEUE = 'webhook-endpoints';

/**
 * Lease of this process on a delivery. Until the first attempt is recorded, it is the lease on the delivery's
 * event. Afterwards it is the lease on the delivery's row in `pending_deliveries`.
 */
export interface Lease {
  id: string;
  on: 'event' | 'row';
}

interface DeliveryState {
  id: string;
  event: OutboxEvent;
  endpoint: Subscriber;
  /** Number of times that it was begun: 1, and 1 more for each redelivery or recovery. */
  round: number;
  /** Number of attempts recorded in this round. */
  attemptCount: number;
  /** Whether a recovery made the delivery pending. If so, deliveries without a recovery go before it. */
  recovered: boolean;
  /** Id of the recovery that counts how the delivery ends, even after a redelivery; null for none. */
  recoveryId: string | null;
  /** Whether an automatic recovery made the delivery. If so, it has one attempt. */
  automatic: boolean;
}

export const NOT_ATTEMPTED = {
  round: 1,
  attemptCount: 0,
  recovered: false,
  recoveryId: null,
  automatic: false,
};

/** Delivery that this process has claimed. Only the lease's holder may attempt it. */
export interface Delivery extends DeliveryState {
  /** Lease of the delivery; null for a test. A test is in no queue, and its caller makes the only attempt. */
  lease: Lease | null;
  startBy: StartBy;
}

/** Row of `pending_deliveries`: a delivery that waits for a slot, a retry or the end of a lease. */
export interface PendingDelivery {
  tenantId: string;
  id: string;
  endpointId: string;
  /** Number of the endpoint's activation for which the delivery is made; it is sent in no later one. */
  activation: number;
  eventId: string;
  eventType: string;
  round: number;
  attemptCount: number;
  recovered: boolean;
  /** HTTP status of the round's last attempt; null without an answer. `lastError` is of the same attempt. */
  lastStatusCode: number | null;
  lastError: AttemptError | null;
}

export type NewRound = Pick<
  PendingDelivery,
  'tenantId' | 'id' | 'endpointId' | 'activation' | 'eventId' | 'eventType' | 'round'
>;

export interface AttemptRecord {
  delivery: Delivery;
  /** Outcome of the attempt; null when no request was sent. */
  outcome: AttemptOutcome | null;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'PENDING';
  /** Milliseconds until the next attempt; null when no attempt follows. */
  retryDelayMs: number | null;
}

export interface TestExample {
  event: EventType;
  data: object;
}

/**
 * Returns the content of the request for an event. If a test sends an example, it is the example's content.
 * @param context `context` of the body; null for a body without one
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

/** Reports whether its automatic recovery may still send a delivery; true for any other delivery. */
export function isOfPresentRecovery({ automatic, recoveryId }: DeliveryState, endpoint: Subscriber): boolean {
  return !automatic || endpoint.recoveringId === recoveryId;
}

/** Returns the target that wakes workers for an endpoint's recovered deliveries, or for its other ones. */
export function targetOf({ tenantId, id }: { tenantId: string; id: string }, recovered: boolean): Target {
  return { tenantId, id, isBackground: recovered };
}

/** Returns the part of the queue with an endpoint's recovered deliveries, or with its other ones. */
export function deliveriesSubQueue(tenantId: string, endpointId: string, recovered: boolean): SubQueue {
  return { queue: 'deliveries', tenantId, key: recovered ? `${endpointId}:recovered` : endpointId };
}

export function isForRecovered({ isBackground = false }: Target): boolean {
  return isBackground;
}

/**
 * Returns the id of an event's delivery to an endpoint. The same event and endpoint always give the same id,
 * so the primary key excludes a second delivery. It is a UUID of version 8 (RFC 9562): the event's
 * milliseconds, so that ids sort by time, and a hash of both ids.
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
 * millisecond are within the two bounds, so compare the event's id as well.
 */
export function lastIdOf(eventId: string): string {
  return `${eventId.slice(0, TIMESTAMP_LENGTH)}-ffff-ffff-ffffffffffff`;
}

/** Returns a row of `pending_deliveries` that says nothing about a last attempt. */
export function toPending(delivery: DeliveryState): PendingDelivery {
  const { id, event, endpoint, round, attemptCount, recovered } = delivery;
  const keys = { tenantId: event.tenantId, id, endpointId: endpoint.id, activation: endpoint.activation };
  const progress = { round, attemptCount, recovered, lastStatusCode: null, lastError: null };
  return { ...keys, eventId: event.id, eventType: event.type, ...progress };
}

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
