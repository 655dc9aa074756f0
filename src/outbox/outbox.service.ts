import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Pipelined, Transaction } from '../database/transaction';
import { ALL_EVENTS, eventCatalog, EventData, EventType } from './event-catalog';
import { AppendedEvent, EventQueueRepository } from './event-queue.repository';
import { RedisSignals, Signal } from '../redis/redis-signals';

/** Tells the relays, and whoever listens to the workspace, of an event that was committed. */
export const EVENT_APPENDED: Signal<AppendedEvent> = { name: 'outbox:event' };

interface AppendOptions {
  id?: string;
  /** Whether consumers get the event; true by default. False for an event that the caller handles itself. */
  isQueued?: boolean;
}

interface OrderedOptions extends AppendOptions {
  /** Number of the event within its conversation. */
  sequence: string;
}

/**
 * Options of an event of one type. A type with an order in the catalog needs a sequence; other types have
 * none.
 */
type Options<T extends EventType> = (typeof eventCatalog)[T]['order'] extends null
  ? [options?: AppendOptions]
  : [options: OrderedOptions];

type UnorderedType = {
  [T in EventType]: (typeof eventCatalog)[T]['order'] extends null ? T : never;
}[EventType];

@Injectable()
export class OutboxService {
  constructor(
    private readonly events: EventQueueRepository,
    private readonly signals: RedisSignals,
  ) {}

  /** Appends an event in the transaction of the change that it reports: both commit, or neither. */
  appendPipelined<T extends EventType>(
    tx: Transaction,
    tenantId: string,
    type: T,
    data: EventData<T>,
    ...[options]: Options<T>
  ): Pipelined {
    const { id = newId(), isQueued = true, sequence }: Partial<OrderedOptions> = options ?? {};
    const appended = { tenantId, id, ...subjectOf(data) };
    if (isQueued) tx.onCommit(() => this.signals.send(EVENT_APPENDED, tenantId, appended));
    const event = { id, tenantId, type, data: JSON.stringify(data), sequence: sequence ?? null };
    return this.events.insertPipelined(tx, { ...event, createdAt: new Date() }, isQueued);
  }

  /**
   * Appends several events of a type without an order, as `appendPipelined` does. One signal wakes the relays
   * for all of them; `EventlessChanges` tells inboxes of the changed rows.
   */
  appendAllPipelined<T extends UnorderedType>(
    tx: Transaction,
    tenantId: string,
    type: T,
    data: EventData<T>[],
  ): void {
    const createdAt = new Date();
    const events = data.map((one) => {
      return { id: newId(), tenantId, type, data: JSON.stringify(one), sequence: null, createdAt };
    });
    tx.onCommit(() => this.signals.send(EVENT_APPENDED, tenantId, { tenantId, id: events[0]!.id }));
    this.events.insertAllPipelined(tx, events);
  }
}

/**
 * Returns the ids of the conversation and the contact that an event is about. An audit entry names a
 * conversation in its metadata.
 */
function subjectOf(data: object): Pick<AppendedEvent, 'conversationId' | 'contactId'> {
  const { conversationId, metadata, entity, entityId } = data as EventSubject;
  return {
    conversationId: conversationId ?? metadata?.conversationId,
    contactId: entity === 'contact' ? entityId : undefined,
  };
}

/** Parts of the data of events that name their subjects. */
interface EventSubject {
  conversationId?: string;
  metadata?: { conversationId?: string };
  entity?: string;
  entityId?: string;
}

/**
 * Returns SQL that reports whether an active webhook endpoint of a workspace subscribes to a type of events.
 * The statement of a frequent change asks it along with the change, so that an event without a subscriber is
 * not stored: one look-up in `webhook_endpoints_active_idx`, of at most 50 rows, without a round trip. An
 * endpoint that was activated before the statement began is never missed. It is the one place where this
 * folder reads a table of `webhooks`, which no import shows.
 * @param tenantId SQL for the workspace's id
 */
export function hasSubscriberSql(tenantId: string, type: EventType): string {
  return `EXISTS (SELECT FROM webhook_endpoints subscriber
    WHERE subscriber.tenant_id = ${tenantId} AND subscriber.active
      AND subscriber.events && ARRAY['${ALL_EVENTS}', '${type}'])`;
}
