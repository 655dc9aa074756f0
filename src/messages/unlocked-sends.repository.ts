import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { Database } from '../database/database';
import { violatesUnique } from '../database/driver/database-errors';
import { IdempotentRequest } from '../idempotency/idempotent-request';
import { SELECT_FIRST_MANAGER } from '../workspaces/agents.repository';
import { MessageEntity } from './message.entity';

/**
 * Greatest age in milliseconds, by the database's clock, of a message's id when the message is inserted. The
 * message search counts on it, because the id is made before the transaction begins.
 */
export const MAX_ID_AGE_MS = 2_000;

/**
 * Message with its event. The statement chooses the sender and the event's number, and may raise the id. It
 * puts both ids into the texts that contain them, in place of the message's own.
 */
export interface UnlockedSend {
  message: MessageEntity;
  preview: string;
  /** JSON text of the event's data, with the message's id. */
  data: string;
  /** Channels on which a message may have this body. */
  channels: Channel[];
  /** JSON text of the response, with the ids of the message and the sender. It is kept with a key only. */
  response: string;
}

/**
 * SQL of the message's id: $3, or the next id after the last message's if that one is higher. If messages
 * come at once, the id that was made first may get the lock last.
 */
const ID = `CASE WHEN last_message_id IS NULL OR last_message_id < $3 THEN $3
  ELSE (left(last_message_id::text, 24)
        || lpad(to_hex(('x' || right(last_message_id::text, 12))::bit(48)::bigint + 1), 12, '0'))::uuid END`;
/** SQL condition that the last 12 digits of the last message's id can be raised by one, as `ID` does. */
const HAS_NEXT_ID = `right(last_message_id::text, 12) IS DISTINCT FROM 'ffffffffffff'`;

const KEEP_RESPONSE = `, kept AS (
    INSERT INTO idempotency_keys (tenant_id, key, fingerprint, response, conversation_id, created_at)
    SELECT $1, $11, $12, replace(replace($13, $3::text, message_id::text), $14, sender_id::text)::json, $2, now()
    FROM conversation
  )`;

/**
 * Returns a statement that adds a message with its queued event to a conversation. PostgreSQL locks the
 * conversation where it updates it, and first reads the row again if another transaction has changed it. The
 * statement writes nothing within 2 s after a change that was no message, because the message's id must be
 * higher than the id of the change's event, which the conversation does not store.
 * @param selectSender SQL that selects the id of the sender
 * @param hasKey whether the statement keeps the response under an idempotency key, and writes nothing if the
 *   key is there. If two requests with a key come at once, the second violates the key's uniqueness.
 */
const sendBy = (selectSender: string, hasKey: boolean) => `
  WITH conversation AS (
    UPDATE conversations c
    SET last_message_id = ${ID}, last_message_preview = $4, last_message_at = $5, updated_at = $5,
        waiting_message_id = NULL, event_sequence = event_sequence + 1
    FROM (${selectSender}) AS sender
    WHERE c.tenant_id = $1 AND c.id = $2 AND source_channel = ANY ($6::text[]) AND ${HAS_NEXT_ID}
      AND (updated_at = coalesce(last_message_at, c.created_at)
           OR updated_at < $5::timestamptz - interval '2 seconds')
      AND $5::timestamptz > clock_timestamp() - interval '${MAX_ID_AGE_MS} milliseconds'
      ${hasKey ? 'AND NOT EXISTS (SELECT FROM idempotency_keys WHERE tenant_id = $1 AND key = $11)' : ''}
    RETURNING last_message_id AS message_id, event_sequence AS sequence, sender.id AS sender_id
  ), message AS (
    INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                          created_at)
    SELECT $1, $2, message_id, $7, sender_id, $8, $9, $5 FROM conversation
  ), event AS (
    INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
    SELECT $1, message_id, 'message.created', replace($10, $3::text, message_id::text)::json, sequence, $5
    FROM conversation
  ), queued AS (
    INSERT INTO event_queue (tenant_id, event_id) SELECT $1, message_id FROM conversation
  ) ${hasKey ? KEEP_RESPONSE : ''}
  SELECT message_id AS id, sender_id AS "senderAgentId" FROM conversation`;

const selectAgent = (id: string) => `SELECT id FROM agents WHERE tenant_id = $1 AND id = ${id} AND active`;
const SEND_BY_MANAGER = sendBy(SELECT_FIRST_MANAGER, false);
const SEND_BY_AGENT = sendBy(selectAgent('$11'), false);
const SEND_ONCE_BY_MANAGER = sendBy(SELECT_FIRST_MANAGER, true);
const SEND_ONCE_BY_AGENT = sendBy(selectAgent('$15'), true);

@Injectable()
export class UnlockedSendsRepository {
  constructor(private readonly database: Database) {}

  /** Whether one statement may write rows of several tables. */
  get isPossible(): boolean {
    return this.database.placement.mixesWorkspaces;
  }

  /**
   * Adds a message with its event to a conversation by one statement, which is a transaction of its own.
   * @param make is called when a connection is free
   * @returns the message's id and its sender; undefined if nothing was written
   */
  async insert(
    senderAgentId: string | undefined,
    request: Pick<IdempotentRequest, 'key' | 'fingerprint'> | null,
    make: () => UnlockedSend,
  ): Promise<Pick<MessageEntity, 'id' | 'senderAgentId'> | undefined> {
    const byManager = request ? SEND_ONCE_BY_MANAGER : SEND_BY_MANAGER;
    const byAgent = request ? SEND_ONCE_BY_AGENT : SEND_BY_AGENT;
    const makeParameters = () => {
      const { message, preview, data, channels, response } = make();
      return [
        message.tenantId,
        message.conversationId,
        message.id,
        preview,
        message.createdAt,
        channels,
        message.senderType,
        message.body,
        message.deliveryStatus,
        data,
        ...(request ? [request.key, request.fingerprint(), response, message.senderAgentId] : []),
        ...(senderAgentId === undefined ? [] : [senderAgentId]),
      ];
    };
    try {
      const [sent] = await this.database.preparedWrite<Pick<MessageEntity, 'id' | 'senderAgentId'>>(
        senderAgentId === undefined ? byManager : byAgent,
        makeParameters,
      );
      return sent;
    } catch (error) {
      if (violatesUnique(error, 'idempotency_keys_pkey')) return undefined;
      throw error;
    }
  }
}
