import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { Database } from '../database/database';
import { SELECT_FIRST_MANAGER } from '../workspaces/agents.repository';
import { MessageEntity } from './message.entity';

/**
 * Greatest age in milliseconds, by the database's clock, of a message's id when the message is inserted. The
 * message search counts on it, because the id is made before the transaction begins.
 */
export const MAX_ID_AGE_MS = 2_000;

/** Message with its event. The statement chooses the sender and the event's number, and may raise the id. */
export interface UnlockedSend {
  message: MessageEntity;
  preview: string;
  /** JSON text of the event's data, with the message's id. */
  data: string;
  /** Channels on which a message may have this body. */
  channels: Channel[];
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

/**
 * Returns a statement that adds a message with its queued event to a conversation. PostgreSQL locks the
 * conversation where it updates it, and first reads the row again if another transaction has changed it. The
 * statement writes nothing within 2 s after a change that was no message, because the message's id must be
 * higher than the id of the change's event, which the conversation does not store.
 * @param selectSender SQL that selects the id of the sender
 */
const sendBy = (selectSender: string) => `
  WITH conversation AS (
    UPDATE conversations c
    SET last_message_id = ${ID}, last_message_preview = $4, last_message_at = $5, updated_at = $5,
        event_sequence = event_sequence + 1
    FROM (${selectSender}) AS sender
    WHERE c.tenant_id = $1 AND c.id = $2 AND source_channel = ANY ($6::text[]) AND ${HAS_NEXT_ID}
      AND (updated_at = coalesce(last_message_at, c.created_at)
           OR updated_at < $5::timestamptz - interval '2 seconds')
      AND $5::timestamptz > clock_timestamp() - interval '${MAX_ID_AGE_MS} milliseconds'
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
  )
  SELECT message_id AS id, sender_id AS "senderAgentId" FROM conversation`;

const SEND_BY_MANAGER = sendBy(SELECT_FIRST_MANAGER);
const SEND_BY_AGENT = sendBy('SELECT id FROM agents WHERE tenant_id = $1 AND id = $11 AND active');

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
    make: () => UnlockedSend,
  ): Promise<Pick<MessageEntity, 'id' | 'senderAgentId'> | undefined> {
    const parametersOf = ({ message, preview, data, channels }: UnlockedSend) => [
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
    ];
    const [sent] = await this.database.preparedWrite<Pick<MessageEntity, 'id' | 'senderAgentId'>>(
      senderAgentId === undefined ? SEND_BY_MANAGER : SEND_BY_AGENT,
      () => [...parametersOf(make()), ...(senderAgentId === undefined ? [] : [senderAgentId])],
    );
    return sent;
  }
}
