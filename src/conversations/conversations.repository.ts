import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { idFloor, isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { ErasedMessages } from '../database/tables/table-declaration';
import { ConversationEntity, ConversationStatus } from './conversation.entity';

export interface ConversationFilter {
  status?: ConversationStatus;
  channel?: Channel;
  cursor?: string;
}

export type ListedConversation = Pick<
  ConversationEntity,
  | 'id'
  | 'sourceChannel'
  | 'status'
  | 'snoozedUntil'
  | 'assignedAgentId'
  | 'lastMessagePreview'
  | 'lastMessageAt'
  | 'waitingMessageId'
  | 'createdAt'
>;

export const CONVERSATION_COLUMNS = `id, source_channel AS "sourceChannel", status, snoozed_until AS "snoozedUntil",
  assigned_agent_id AS "assignedAgentId", last_message_preview AS "lastMessagePreview",
  last_message_at AS "lastMessageAt", waiting_message_id AS "waitingMessageId", created_at AS "createdAt"`;

/** SQL that selects a ConversationEntity; conditions and a lock can be appended. */
export const SELECT_CONVERSATION = `
  SELECT tenant_id AS "tenantId", id, contact_id AS "contactId", source_channel AS "sourceChannel",
         identity_external_id AS "identityExternalId", status, snoozed_until AS "snoozedUntil",
         assigned_agent_id AS "assignedAgentId", last_message_id AS "lastMessageId",
         last_message_preview AS "lastMessagePreview", last_message_at AS "lastMessageAt",
         waiting_message_id AS "waitingMessageId", event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM conversations`;

/** Customer of a conversation, with their id on the channel. */
export type ConversationPartner = Pick<ConversationEntity, 'tenantId' | 'contactId' | 'sourceChannel'> & {
  identityExternalId: string;
};

/** Customer by an id on a channel. */
export interface ChannelCustomer {
  tenantId: string;
  channel: Channel;
  externalId: string;
}

/** New values of a conversation. A field that is left out does not change. */
export type NewValues = Partial<Pick<ConversationEntity, 'status' | 'assignedAgentId' | 'snoozedUntil'>>;

export interface LastMessage {
  id: string;
  preview: string;
  at: Date;
  isFromCustomer: boolean;
}

export function nextSequence({ eventSequence }: ConversationEntity): string {
  return String(BigInt(eventSequence) + 1n);
}

@Injectable()
export class ConversationsRepository {
  constructor(private readonly database: Database) {}

  async find(
    tenantId: string,
    id: string,
    reader: Reader = this.database,
  ): Promise<ConversationEntity | null> {
    if (!isId(id)) return null;
    const [row] = await reader.prepared<ConversationEntity>(
      `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /** Finds conversations by their ids. Leaves out ids of other workspaces. */
  async findMany(tenantId: string, ids: string[]): Promise<ConversationEntity[]> {
    if (ids.length === 0) return [];
    const sql = `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND id = ANY ($2)`;
    return this.database.pipelinedRead(sql, [tenantId, ids]);
  }

  async exists(tenantId: string, id: string, reader: Reader = this.database): Promise<boolean> {
    if (!isId(id)) return false;
    const sql = 'SELECT FROM conversations WHERE tenant_id = $1 AND id = $2';
    return (await reader.prepared(sql, [tenantId, id])).length > 0;
  }

  /** Lists up to `count` conversations below the cursor, newest first. */
  list(
    tenantId: string,
    { status, channel, cursor }: ConversationFilter,
    count: number,
  ): Promise<ListedConversation[]> {
    const page = new PageStatement(CONVERSATION_COLUMNS, 'conversations').where('tenant_id = ?', tenantId);
    if (status) page.where('status = ?', status);
    if (channel) page.where('source_channel = ?', channel);
    return page.read(this.database, cursor, count);
  }

  /**
   * Locks a conversation. Every transaction that changes a conversation takes this lock first, so that the
   * ids of its messages and the numbers of its events are in the order of commits.
   */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<ConversationEntity | null> {
    if (!isId(id)) return null;
    const [row] = await tx.prepared<ConversationEntity>(
      `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /**
   * Locks the newest conversation with a contact on a channel, as `lock` does. From now on, replies are sent
   * to the identity that `partner` names.
   */
  async lockLatest(tx: Transaction, partner: ConversationPartner): Promise<ConversationEntity | null> {
    const { tenantId, contactId, sourceChannel, identityExternalId } = partner;
    const latest = await this.lockLatestOf(tx, tenantId, contactId, sourceChannel);
    if (!latest || latest.identityExternalId === identityExternalId) return latest ?? null;
    await tx.query('UPDATE conversations SET identity_external_id = $3 WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      latest.id,
      identityExternalId,
    ]);
    return { ...latest, identityExternalId };
  }

  async insert(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    const { tenantId, id, contactId, sourceChannel, identityExternalId, createdAt } = conversation;
    await tx.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, identity_external_id, status,
                                  event_sequence, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, 'OPEN', 0, $6, $6)`,
      [tenantId, id, contactId, sourceChannel, identityExternalId, createdAt],
    );
  }

  /**
   * Changes a locked conversation. A conversation that is closed or snoozed waits for no reply.
   * @param events number of events that report this change: 0 or 1
   * @returns the number of the conversation's latest event
   */
  async update(
    tx: Transaction,
    { tenantId, id }: ConversationEntity,
    { status, assignedAgentId, snoozedUntil }: NewValues,
    updatedAt: Date,
    events: number,
  ): Promise<string> {
    const rows = await tx.query<{ sequence: string }>(
      `UPDATE conversations
       SET status = coalesce($3, status),
           assigned_agent_id = CASE WHEN $4 THEN $5 ELSE assigned_agent_id END,
           snoozed_until = CASE WHEN $6 THEN $7 ELSE snoozed_until END,
           waiting_message_id = CASE WHEN $3 IS NULL OR $3 = 'OPEN' THEN waiting_message_id END,
           updated_at = $8,
           event_sequence = event_sequence + $9
       WHERE tenant_id = $1 AND id = $2 RETURNING event_sequence AS sequence`,
      [
        tenantId,
        id,
        status ?? null,
        assignedAgentId !== undefined,
        assignedAgentId ?? null,
        snoozedUntil !== undefined,
        snoozedUntil ?? null,
        updatedAt,
        events,
      ],
    );
    return rows[0]!.sequence;
  }

  /**
   * Stores a conversation's newest message, and the number of the message's event. A customer's message waits
   * for a reply from then on, and an agent's is the reply.
   */
  setLastMessagePipelined(
    tx: Transaction,
    { tenantId, id }: ConversationEntity,
    last: LastMessage,
    sequence: string,
  ): Pipelined {
    return tx.pipeline(
      `UPDATE conversations
       SET last_message_id = $3, last_message_preview = $4, last_message_at = $5, updated_at = $5,
           waiting_message_id = CASE WHEN $7::boolean THEN coalesce(waiting_message_id, $3) END,
           event_sequence = $6
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, last.id, last.preview, last.at, sequence, last.isFromCustomer],
    );
  }

  /** Lets the customer's next message wait in place of one that the customer has taken back. */
  passOverPipelined(tx: Transaction, { tenantId, id }: ConversationEntity, messageId: string): Pipelined {
    return tx.pipeline(
      `UPDATE conversations
       SET waiting_message_id = (
         SELECT id FROM messages
         WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 AND sender_type = 'CUSTOMER' AND unsent_at IS NULL
         ORDER BY id LIMIT 1)
       WHERE tenant_id = $1 AND id = $2 AND waiting_message_id = $3`,
      [tenantId, id, messageId],
    );
  }

  /**
   * Ends the wait for a reply in a customer's newest conversation on a channel, unless it has begun after an
   * answer that the customer got elsewhere.
   * @returns the conversation's id; null if the customer did not wait
   */
  async endWait(
    tx: Transaction,
    { tenantId, channel, externalId }: ChannelCustomer,
    answeredAt: Date,
  ): Promise<string | null> {
    const [identity] = await tx.query<{ contactId: string }>(
      `SELECT contact_id AS "contactId" FROM contact_identities
       WHERE tenant_id = $1 AND channel = $2 AND external_id = $3`,
      [tenantId, channel, externalId],
    );
    if (!identity) return null;
    const latest = await this.lockLatestOf(tx, tenantId, identity.contactId, channel);
    if (!latest) return null;
    const ended = await tx.query(
      `UPDATE conversations SET waiting_message_id = NULL
       WHERE tenant_id = $1 AND id = $2 AND waiting_message_id < $3 RETURNING id`,
      [tenantId, latest.id, idFloor(new Date(answeredAt.getTime() + 1))],
    );
    return ended.length > 0 ? latest.id : null;
  }

  private async lockLatestOf(
    tx: Transaction,
    tenantId: string,
    contactId: string,
    channel: Channel,
  ): Promise<ConversationEntity | undefined> {
    const [latest] = await tx.prepared<ConversationEntity>(
      `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND contact_id = $2 AND source_channel = $3
       ORDER BY id DESC LIMIT 1 FOR NO KEY UPDATE`,
      [tenantId, contactId, channel],
    );
    return latest;
  }

  /** Stores a conversation's changed preview, and the number of the change's event. */
  setPreviewPipelined(
    tx: Transaction,
    { tenantId, id, lastMessagePreview }: ConversationEntity,
    updatedAt: Date,
    sequence: string,
  ): Pipelined {
    return tx.pipeline(
      `UPDATE conversations SET last_message_preview = $3, updated_at = $4, event_sequence = $5
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, lastMessagePreview, updatedAt, sequence],
    );
  }

  /**
   * Erases the preview if it shows an erased message. If the contact is erased, erases the customer's id,
   * and ends the wait for a reply.
   */
  async erase(tx: Transaction, messages: ErasedMessages): Promise<void> {
    const { tenantId, conversationId, ids, withContact } = messages;
    await tx.query(
      `UPDATE conversations SET last_message_preview = ''
       WHERE tenant_id = $1 AND id = $2 AND last_message_id = ANY ($3) AND last_message_preview <> ''`,
      [tenantId, conversationId, ids],
    );
    if (!withContact) return;
    await tx.query(
      `UPDATE conversations SET identity_external_id = NULL, waiting_message_id = NULL
       WHERE tenant_id = $1 AND id = $2 AND (identity_external_id IS NOT NULL OR waiting_message_id IS NOT NULL)`,
      [tenantId, conversationId],
    );
  }
}
