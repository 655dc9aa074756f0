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

/** Message with its event, of which the database chooses the sender and the number. */
export interface UnlockedSend {
  message: MessageEntity;
  preview: string;
  /** JSON text of the event's data. */
  data: string;
  /** Channels on which a message may have this body. */
  channels: Channel[];
}

/**
 * Returns a statement that adds a message with its queued event to a conversation. PostgreSQL locks the
 * conversation where it updates it, and checks the conditions again if another transaction has changed the
 * row meanwhile. It writes nothing if the message's id might be lower than that of an earlier event of the
 * conversation. A change without a message does not store its event's id, so the id must be 2 s younger.
 * @param selectSender SQL that selects the id of the sender
 */
const sendBy = (selectSender: string) => `
  WITH conversation AS (
    UPDATE conversations c
    SET last_message_id = $3, last_message_preview = $4, last_message_at = $5, updated_at = $5,
        event_sequence = event_sequence + 1
    FROM (${selectSender}) AS sender
    WHERE c.tenant_id = $1 AND c.id = $2 AND source_channel = ANY ($6::text[])
      AND (last_message_id IS NULL OR last_message_id < $3)
      AND (updated_at = coalesce(last_message_at, c.created_at) OR updated_at < $5::timestamptz - interval '2 seconds')
      AND $5::timestamptz > clock_timestamp() - interval '${MAX_ID_AGE_MS} milliseconds'
    RETURNING event_sequence AS sequence, sender.id AS sender_id
  ), message AS (
    INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                          created_at)
    SELECT $1, $2, $3, $7, sender_id, $8, $9, $5 FROM conversation
  ), event AS (
    INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
    SELECT $1, $3, 'message.created', $10, sequence, $5 FROM conversation
  ), queued AS (
    INSERT INTO event_queue (tenant_id, event_id) SELECT $1, $3 FROM conversation
  )
  SELECT sender_id AS "senderAgentId" FROM conversation`;

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
   * @returns the sender's id; null if nothing was written
   */
  async insert(senderAgentId: string | undefined, make: () => UnlockedSend): Promise<string | null> {
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
    const [sent] = await this.database.preparedWrite<{ senderAgentId: string }>(
      senderAgentId === undefined ? SEND_BY_MANAGER : SEND_BY_AGENT,
      () => [...parametersOf(make()), ...(senderAgentId === undefined ? [] : [senderAgentId])],
    );
    return sent?.senderAgentId ?? null;
  }
}
