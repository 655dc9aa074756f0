import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Pipelined, Transaction } from '../database/transaction';
import { ALL_EVENTS, eventCatalog, EventData, EventType } from './event-catalog';
import { AppendedEvent, EventQueueRepository } from './event-queue.repository';
import { RedisSignals, Signal } from '../redis/redis-signals';

/** Redis signal that an event was committed, to the relays and to open inboxes. */
export const EVENT_APPENDED: Signal<AppendedEvent> = { name: 'outbox:event' };

interface AppendOptions {
  id?: string;
  /** False for an event that the caller handles itself, so that no consumer receives it; true by default. */
  isQueued?: boolean;
}

interface OrderedOptions extends AppendOptions {
  sequence: string;
}

/** Options for events of one type. `sequence` is required if the type has an `order`, else forbidden. */
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

  /** Appends an event in the transaction of the change that it reports: both commit, or neither does. */
  appendPipelined<T extends EventType>(
    tx: Transaction,
    tenantId: string,
    type: T,
    data: EventData<T>,
    ...[options]: Options<T>
  ): Pipelined {
    const { id = newId(), isQueued = true, sequence }: Partial<OrderedOptions> = options ?? {};
    const appended = { tenantId, id, ...subjectOf(data) };
    if (isQueued) tx.onCommit(() => this.signal(appended));
    const event = { id, tenantId, type, data: JSON.stringify(data), sequence: sequence ?? null };
    return this.events.insertPipelined(tx, { ...event, createdAt: new Date() }, isQueued);
  }

  /** Signals a committed and queued event to the relays and to open inboxes. */
  signal(appended: AppendedEvent): void {
    this.signals.send(EVENT_APPENDED, appended.tenantId, appended);
  }

  /**
   * Appends events of a type whose events are not numbered. One Redis signal wakes the relays for all of the
   * events. It names no changed row, so the caller must announce the changes to inboxes by
   * `EventlessChanges`.
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
    tx.onCommit(() => this.signal({ tenantId, id: events[0]!.id }));
    this.events.insertAllPipelined(tx, events);
  }
}

function subjectOf(data: object): Pick<AppendedEvent, 'conversationId' | 'contactId'> {
  const { conversationId, metadata, entity, entityId } = data as EventSubject;
  return {
    conversationId: conversationId ?? metadata?.conversationId,
    contactId: entity === 'contact' ? entityId : undefined,
  };
}

interface EventSubject {
  conversationId?: string;
  metadata?: { conversationId?: string };
  entity?: string;
  entityId?: string;
}

/**
 * Returns an SQL condition: the workspace has an active webhook endpoint that subscribes to the type. A
 * frequent change includes it in its statement, so that it stores no event without a subscriber and needs no
 * further round trip. The condition reads at most 50 rows of `webhook_endpoints_active_idx`. It sees every
 * endpoint that was activated before the statement began.
 * @param tenantId SQL expression of the workspace's id
 */
export function hasSubscriberSql(tenantId: string, type: EventType): string {
  return `EXISTS (SELECT FROM webhook_endpoints subscriber
    WHERE subscriber.tenant_id = ${tenantId} AND subscriber.active
      AND subscriber.events && ARRAY['${ALL_EVENTS}', '${type}'])`;
}
