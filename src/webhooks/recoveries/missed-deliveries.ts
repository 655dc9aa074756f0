import { Injectable } from '@nestjs/common';
import { Reader } from '../../database/database';
import { EventQueueRepository, IdRange } from '../../outbox/event-queue.repository';
import { DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';
import { deliveryIdOf } from '../deliveries/delivery-id';
import { NewRound, PendingDeliveriesRepository } from '../deliveries/pending-deliveries.repository';

/** The events that an endpoint should have received. */
export interface EventRange extends IdRange {
  tenantId: string;
  endpointId: string;
  /** The endpoint's present one. */
  activation: number;
  activatedAt: Date;
  /** The endpoint's subscription, without `*`. */
  types: string[];
}

export interface MissedDelivery extends Omit<NewRound, 'activation'> {
  /**
   * Its event is still in the queue, from before the activation. The relay does not give it to the endpoint any more, but
   * an attempt of a former activation may be under way.
   */
  isQueued: boolean;
}

/** A step through a range. */
export interface MissedStep {
  missed: MissedDelivery[];
  /** Where the next step begins; null after the last. */
  next: string | null;
}

const BEFORE_ALL = new Date(0);

/** Finds the deliveries that an endpoint has missed: it has not received them, and they are not under way. */
@Injectable()
export class MissedDeliveries {
  constructor(
    private readonly events: EventQueueRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {}

  /** Looks at the next `count` events of a range. */
  async step(reader: Reader, range: EventRange, count: number): Promise<MissedStep> {
    const { tenantId, endpointId, activation, activatedAt, types } = range;
    const events = await this.events.next(reader, tenantId, range, count);
    const next = events.length < count ? null : events.at(-1)!.id;
    const wanted = events.filter(({ type }) => types.includes(type));
    if (wanted.length === 0) return { missed: [], next };
    const owed = wanted.map(({ id, type }) => ({
      eventId: id,
      eventType: type,
      id: deliveryIdOf(id, endpointId),
    }));
    const ids = owed.map(({ id }) => id);
    const queued = await this.events.queuedSince(
      reader,
      tenantId,
      owed.map(({ eventId }) => eventId),
    );
    const pending = await this.pending.roundsOf(reader, tenantId, ids);
    const underWay = new Set(pending.filter((one) => one.activation >= activation).map(({ id }) => id));
    const finished = await this.history.latestRounds(reader, tenantId, ids);
    const succeeded = new Set(finished.filter(({ status }) => status === 'SUCCEEDED').map(({ id }) => id));
    // Those of a former activation that are not cancelled yet count like cancelled ones.
    const rounds = new Map([...finished, ...pending].map(({ id, round }) => [id, round]));
    const isAhead = (eventId: string) => (queued.get(eventId) ?? BEFORE_ALL) >= activatedAt;
    const missed = owed
      .filter(({ id, eventId }) => !isAhead(eventId) && !underWay.has(id) && !succeeded.has(id))
      .map((delivery) => ({
        ...delivery,
        tenantId,
        endpointId,
        round: (rounds.get(delivery.id) ?? 0) + 1,
        isQueued: queued.has(delivery.eventId),
      }));
    return { missed, next };
  }
}
