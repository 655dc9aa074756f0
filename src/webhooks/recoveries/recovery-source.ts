import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { isTest } from '../../outbox/event-catalog';
import { EventQueueRepository } from '../../outbox/event-queue.repository';
import { EventsRepository, IdRange } from '../../outbox/events.repository';
import { DeliveryFilter } from '../browsing/delivery-filter';
import { DeliverySearch } from '../browsing/delivery-search';
import { DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';
import { deliveryIdOf, NewRound } from '../deliveries/delivery';
import { DeliveryRoundsRepository } from '../deliveries/delivery-rounds.repository';
import { EndpointSubscription, receivesType } from '../endpoints/subscription';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { toFinishedFilter } from './webhook-recovery.dto';
import { WebhookRecovery } from './webhook-recovery';

const BEFORE_ALL = new Date(0);

type Endpoint = Pick<WebhookEndpoint, 'tenantId' | 'id' | 'events' | 'activation' | 'activatedAt'>;

export interface RecoveryStep {
  rounds: RecoveryRound[];
  /** Cursor of the next step; null after the last step. */
  next: string | null;
}

export interface RecoveryRound extends Omit<NewRound, 'activation'> {
  /**
   * Whether the event was queued before the endpoint's activation, and still is. The recovery waits for it,
   * because an attempt of an earlier activation may be under way.
   */
  isQueued: boolean;
  conversationId: string | null;
}

type Recovery = Pick<WebhookRecovery, 'filter' | 'since' | 'until' | 'automatic' | 'createdAt'>;

/**
 * Finds the deliveries that a recovery makes. Without a filter, it delivers each event that has not reached
 * the endpoint. With a filter, it repeats the finished deliveries that match the filter.
 */
@Injectable()
export class RecoverySource {
  constructor(
    private readonly subscription: EndpointSubscription,
    private readonly events: EventsRepository,
    private readonly queue: EventQueueRepository,
    private readonly rounds: DeliveryRoundsRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly search: DeliverySearch,
  ) {}

  /**
   * Reads the next `size` events, or with a filter the next `size` deliveries, after a cursor.
   * @returns the deliveries to be made, each with the number of its new round
   */
  readStep(
    tx: Transaction,
    { filter, since, until, automatic, createdAt }: Recovery,
    endpoint: Endpoint,
    cursor: string,
    size: number,
  ): Promise<RecoveryStep> {
    const begunAt = automatic === 'ROUND' ? createdAt : null;
    return filter === null
      ? this.stepMissed(tx, endpoint, { after: cursor, before: idFloor(until) }, size, begunAt)
      : this.stepMatching(
          tx,
          endpoint,
          { ...toFinishedFilter(filter), since: since ?? undefined, until, cursor },
          size,
        );
  }

  /**
   * Finds events that have not reached the endpoint, although it receives their types. They have no
   * successful or pending delivery to it, and the relay will not make one.
   * @param begunAt if it is given, events with an attempt that ended after this time are left out
   */
  private async stepMissed(
    tx: Transaction,
    endpoint: Endpoint,
    range: IdRange,
    size: number,
    begunAt: Date | null,
  ): Promise<RecoveryStep> {
    const { tenantId, id: endpointId, activation, activatedAt } = endpoint;
    const types = await this.subscription.listTypes(tx, endpoint);
    const events = await this.events.listNext(tx, tenantId, range, size);
    const next = events.length < size ? null : events.at(-1)!.id;
    const wanted = events
      .filter(({ type }) => types.includes(type))
      .map(({ id, type, conversationId }) => ({
        id: deliveryIdOf(id, endpointId),
        eventId: id,
        eventType: type,
        conversationId,
      }));
    if (wanted.length === 0) return { rounds: [], next };
    const ids = wanted.map(({ id }) => id);
    const eventIds = wanted.map(({ eventId }) => eventId);
    const queued = await this.queue.findQueuedTimes(tx, tenantId, eventIds);
    const pending = await this.rounds.findRounds(tx, tenantId, ids);
    const underWay = new Set(pending.filter((one) => one.activation >= activation).map(({ id }) => id));
    const finished = await this.history.findLatestRounds(tx, tenantId, ids);
    const isDone = ({ status, finishedAt }: (typeof finished)[number]) =>
      status === 'SUCCEEDED' || (begunAt !== null && finishedAt > begunAt);
    const done = new Set(finished.filter(isDone).map(({ id }) => id));
    // A pending delivery of an earlier activation counts as ended, because it is about to be cancelled.
    const rounds = new Map([...finished, ...pending].map(({ id, round }) => [id, round]));
    const isAhead = (eventId: string) => (queued.get(eventId) ?? BEFORE_ALL) >= activatedAt;
    const missed = wanted
      .filter(({ id, eventId }) => !isAhead(eventId) && !underWay.has(id) && !done.has(id))
      .map((delivery) => ({
        ...delivery,
        tenantId,
        endpointId,
        round: (rounds.get(delivery.id) ?? 0) + 1,
        isQueued: queued.has(delivery.eventId),
      }));
    return { rounds: missed, next };
  }

  private async stepMatching(
    tx: Transaction,
    endpoint: Endpoint,
    filter: DeliveryFilter,
    size: number,
  ): Promise<RecoveryStep> {
    const { tenantId } = endpoint;
    const { rows, next } = await this.search.searchStep(tx, tenantId, filter, size);
    const rounds = rows
      .filter(({ eventType }) =>
        isTest(eventType) ? filter.event === eventType : receivesType(endpoint, eventType),
      )
      .map(({ id, endpointId, eventId, eventType, round }) => ({
        tenantId,
        id,
        endpointId,
        eventId,
        eventType,
        round: round + 1,
        isQueued: false,
        conversationId: null,
      }));
    return { rounds, next };
  }
}

/** Returns the rounds before the first queued event. If there are none, `next` is the given cursor. */
export function beforeQueued({ rounds, next }: RecoveryStep, cursor: string): RecoveryStep {
  const first = rounds.findIndex(({ isQueued }) => isQueued);
  if (first === -1) return { rounds, next };
  const ready = rounds.slice(0, first);
  return { rounds: ready, next: ready.at(-1)?.eventId ?? cursor };
}

/**
 * Returns up to `count` rounds, at most one of each conversation, so that a conversation's events arrive in
 * order. A conversation with a pending delivery, in `busy`, gets none. `next` is below the first event that
 * is left out.
 */
export function oneOfEachConversation(
  { rounds, next }: RecoveryStep,
  cursor: string,
  busy: string[],
  count: number,
): RecoveryStep {
  const waiting = new Set(busy);
  const ready: RecoveryRound[] = [];
  let before: string | null = null;
  let last = cursor;
  for (const round of rounds) {
    const { conversationId, isQueued, eventId } = round;
    const isReady = ready.length < count && !isQueued && !(conversationId && waiting.has(conversationId));
    if (isReady) ready.push(round);
    else before ??= last;
    if (conversationId) waiting.add(conversationId);
    last = eventId;
  }
  return { rounds: ready, next: before ?? next };
}
