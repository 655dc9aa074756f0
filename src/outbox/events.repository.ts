import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { ContactKey, ErasedMessages } from '../database/tables/table-declaration';
import { Transaction } from '../database/transaction';
import { erasedData } from './event-catalog';
import { AppendedEvent, OutboxEvent } from './event-queue.repository';

/** SQL condition for events that contain a contact's profile. A partial index has the same condition. */
const OF_PROFILE = `type IN ('contact.created', 'contact.updated')`;

type ErasableEvent = Pick<OutboxEvent, 'id' | 'type' | 'data'>;

/** Range of ids, both bounds exclusive. */
export interface IdRange {
  after: string;
  before: string;
}

@Injectable()
export class EventsRepository {
  constructor(private readonly database: Database) {}

  listNext(
    reader: Reader,
    tenantId: string,
    { after, before }: IdRange,
    count: number,
  ): Promise<(Pick<OutboxEvent, 'id' | 'type'> & { conversationId: string | null })[]> {
    return reader.query(
      `SELECT id, type, data->>'conversationId' AS "conversationId" FROM events
       WHERE tenant_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4`,
      [tenantId, after, before, count],
    );
  }

  /** Lists the ids of a conversation's events, newest first. Leaves out ids above `last`. */
  async listIdsByConversation(
    reader: Reader,
    tenantId: string,
    conversationId: string,
    last: string,
    count: number,
  ): Promise<string[]> {
    const rows = await reader.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND data->>'conversationId' = $2 AND id <= $3
       ORDER BY id DESC LIMIT $4`,
      [tenantId, conversationId, last, count],
    );
    return rows.map(({ id }) => id);
  }

  /** Lists the ids of events of a conversation, or of events with a contact's profile, oldest first. */
  async listNextIds(
    tx: Transaction,
    tenantId: string,
    subject: { conversationId: string } | { contactId: string },
    { after, before }: IdRange,
    count: number,
  ): Promise<string[]> {
    const isOfConversation = 'conversationId' in subject;
    const ofSubject = isOfConversation
      ? `data->>'conversationId' = $2`
      : `data->>'contactId' = $2 AND ${OF_PROFILE}`;
    const id = isOfConversation ? subject.conversationId : subject.contactId;
    const rows = await tx.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND ${ofSubject} AND id > $3 AND id < $4 ORDER BY id LIMIT $5`,
      [tenantId, id, after, before, count],
    );
    return rows.map((row) => row.id);
  }

  async belongsToConversation(
    reader: Reader,
    tenantId: string,
    id: string,
    conversationId: string,
  ): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await reader.query(
      `SELECT FROM events WHERE tenant_id = $1 AND id = $2 AND data->>'conversationId' = $3`,
      [tenantId, id, conversationId],
    );
    return rows.length > 0;
  }

  /**
   * Lists up to `count` events of each workspace: the newest with ids above `after`, newest first. Leaves out
   * workspaces whose database server does not answer within a second.
   */
  async listLatest(tenantIds: string[], after: string, count: number): Promise<AppendedEvent[]> {
    const events = await this.database.placement.readOnServers<AppendedEvent>(
      `SELECT tenants.id AS "tenantId", latest.id, latest."conversationId", latest."contactId"
       FROM unnest($1::uuid[]) AS tenants (id) CROSS JOIN LATERAL (
         SELECT id, coalesce(data->>'conversationId', data->'metadata'->>'conversationId') AS "conversationId",
           CASE WHEN data->>'entity' = 'contact' THEN data->>'entityId' END AS "contactId"
         FROM events
         WHERE events.tenant_id = tenants.id AND events.id > $2 ORDER BY events.id DESC LIMIT $3) AS latest
       ORDER BY latest.id`,
      [tenantIds, after, count],
      { order: ({ id }) => [id], lists: 1 },
    );
    return events.reverse();
  }

  find(reader: Reader, tenantId: string, ids: string[]): Promise<OutboxEvent[]> {
    return reader.query<OutboxEvent>(
      `SELECT id, tenant_id AS "tenantId", type, data::text, sequence, created_at AS "createdAt"
       FROM events WHERE tenant_id = $1 AND id = ANY ($2)`,
      [tenantId, ids],
    );
  }

  /**
   * Erases texts in the events of erased messages; such an event has the id of its message. If the contact is
   * erased too, erases texts in all events `eventIds`.
   */
  async erase(
    tx: Transaction,
    { tenantId, ids: ofMessages, eventIds, withContact }: ErasedMessages,
  ): Promise<void> {
    const ids = withContact ? eventIds : ofMessages;
    if (ids.length === 0) return;
    const events = await tx.query<ErasableEvent>(
      'SELECT id, type, data::text FROM events WHERE tenant_id = $1 AND id = ANY ($2)',
      [tenantId, ids],
    );
    await this.eraseData(tx, tenantId, events);
  }

  /**
   * Erases a contact's profile in the newest `count` events that contain it, except locked events. The caller
   * must hold the lock on the contact's row, so that no newer event with the profile appears.
   */
  async eraseNewestOfContact(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    count: number,
  ): Promise<void> {
    const events = await tx.query<ErasableEvent>(
      `SELECT id, type, data::text FROM events WHERE tenant_id = $1 AND data->>'contactId' = $2 AND ${OF_PROFILE}
       ORDER BY id DESC LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, contactId, count],
    );
    await this.eraseData(tx, tenantId, events);
  }

  private async eraseData(tx: Transaction, tenantId: string, events: ErasableEvent[]): Promise<void> {
    const erased = events
      .map(({ id, type, data }) => ({
        id,
        data,
        left: JSON.stringify(erasedData(type, JSON.parse(data) as object)),
      }))
      .filter(({ data, left }) => left !== data);
    if (erased.length === 0) return;
    await tx.query(
      `UPDATE events SET data = ($3::text[])[array_position($2::uuid[], id)]::json
       WHERE tenant_id = $1 AND id = ANY ($2)`,
      [tenantId, erased.map(({ id }) => id), erased.map(({ left }) => left)],
    );
  }
}
