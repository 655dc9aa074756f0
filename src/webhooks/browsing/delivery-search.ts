import { Injectable } from '@nestjs/common';
import { HIGHEST_ID, isId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { EventsRepository } from '../../outbox/events.repository';
import { DeliveryFilter } from './delivery-filter';
import { DeliverySearchRepository } from './delivery-search.repository';
import { DeliveryRow, SearchStep } from './delivery-row';
import { deliveryIdOf, firstIdOf, lastIdOf } from '../deliveries/delivery';
import { DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';
import { FirstAttempts } from './first-attempts';

/** Largest number of rows that one query reads. A page's first query reads only as many as the page has. */
const MAX_STEP = 2_000;
const GROWTH = 4;
/** Number of rows after which a page ends, even if it is short. The next page reads on from there. */
const MAX_LOOKED_AT = 20_000;
/** Largest number of a conversation's events that one query reads. */
const MAX_EVENTS = 500;

/**
 * Finds deliveries in the three places where they can be: first attempts under way, pending deliveries,
 * history. Each query reads a bounded number of rows, however few pass the filter.
 */
@Injectable()
export class DeliverySearch {
  constructor(
    private readonly database: Database,
    private readonly events: EventsRepository,
    private readonly firstAttempts: FirstAttempts,
    private readonly recorded: DeliverySearchRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {}

  async findMany(tenantId: string, given: string[]): Promise<Map<string, DeliveryRow>> {
    const ids = given.filter(isId);
    if (ids.length === 0) return new Map();
    const firstAttempts = await this.firstAttempts.findMany(tenantId, ids);
    const rows = await this.database.queueTransaction((tx) => this.recorded.findMany(tx, tenantId, ids, {}));
    const found = [...firstAttempts, ...rows];
    return new Map(found.map((row) => [row.id, row]));
  }

  /**
   * Returns the newest deliveries below the cursor: at least `count`, unless fewer exist or too many rows
   * were read. It reads first attempts, then pending deliveries, then history. A delivery passes through
   * these places in the same order, so one that moves during the search is still found, and returned once.
   */
  async list(tenantId: string, filter: DeliveryFilter, count: number): Promise<SearchStep> {
    const firstAttempts = await this.firstAttempts.list(tenantId, filter, count);
    const rows: DeliveryRow[] = [];
    let next = filter.cursor ?? null;
    for (let size = count, seen = 0; seen < MAX_LOOKED_AT; size = Math.min(size * GROWTH, MAX_STEP)) {
      const below = { ...filter, cursor: next ?? undefined };
      const step = await this.database.queueTransaction((tx) => this.searchStep(tx, tenantId, below, size));
      rows.push(...step.rows);
      next = step.next;
      seen += size;
      if (next === null || rows.length >= count) break;
    }
    return merged(next, firstAttempts, rows);
  }

  /** Reads the next rows of pending deliveries and history, without first attempts under way. */
  async searchStep(
    tx: Transaction,
    tenantId: string,
    filter: DeliveryFilter,
    size: number,
  ): Promise<SearchStep> {
    if (filter.conversationId !== undefined || filter.messageId !== undefined)
      return this.stepByEvents(tx, tenantId, filter, Math.min(size, MAX_EVENTS));
    const pending = await this.recorded.searchPending(tx, tenantId, filter, size);
    const finished = await this.recorded.searchHistory(tx, tenantId, filter, size);
    // Rows below the higher of these two ids are left for the next step, because one of the lists ends there.
    const next = [pending.next, finished.next].filter((id) => id !== null).sort();
    return merged(next.at(-1) ?? null, pending.rows, finished.rows);
  }

  private async stepByEvents(
    tx: Transaction,
    tenantId: string,
    filter: DeliveryFilter,
    size: number,
  ): Promise<SearchStep> {
    const { endpointId } = filter;
    const { eventIds, next } = await this.findEventIds(tx, tenantId, filter, size);
    if (eventIds.length === 0) return { rows: [], next };
    const ids =
      endpointId === undefined
        ? await this.history.listIdsOfEvents(tx, tenantId, eventIds)
        : eventIds.map((eventId) => deliveryIdOf(eventId, endpointId));
    return merged(next, await this.recorded.findMany(tx, tenantId, ids, filter));
  }

  /** Returns ids of the next events of the conversation, or the message's id, which its event has too. */
  private async findEventIds(
    tx: Transaction,
    tenantId: string,
    { conversationId, messageId, cursor = HIGHEST_ID }: DeliveryFilter,
    size: number,
  ): Promise<{ eventIds: string[]; next: string | null }> {
    if (conversationId === undefined) return { eventIds: [messageId!].filter(isId), next: null };
    if (messageId !== undefined) {
      const found = await this.events.belongsToConversation(tx, tenantId, messageId, conversationId);
      return { eventIds: found ? [messageId] : [], next: null };
    }
    const eventIds = await this.events.listIdsByConversation(
      tx,
      tenantId,
      conversationId,
      lastIdOf(cursor),
      size,
    );
    if (eventIds.length < size) return { eventIds, next: null };
    // The last millisecond is left for the next step, because some of its events may not have been read.
    const last = firstIdOf(eventIds.at(-1)!);
    const complete = eventIds.filter((id) => firstIdOf(id) > last);
    return complete.length > 0 ? { eventIds: complete, next: lastIdOf(last) } : { eventIds, next: last };
  }
}

/**
 * Merges the rows of first attempts, pending deliveries and history, given in this order. Of two rows of one
 * delivery, it keeps the one given last. It leaves out ids below `next`.
 */
function merged(next: string | null, ...places: DeliveryRow[][]): SearchStep {
  const byId = new Map(places.flat().map((row) => [row.id, row]));
  const rows = [...byId.values()].filter(({ id }) => next === null || id >= next);
  return { rows: rows.sort((a, b) => (a.id < b.id ? 1 : -1)), next };
}
