import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { Transaction } from '../../database/transaction';
import { MessageKey } from '../../messages/message-status.repository';
import { QueueFloors } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { ConnectionStatus } from '../connections/channel-connection.entity';
import { messagesSubQueue } from './outbound-messages.repository';
import { HAS_ENDED } from './queue-conditions';

export interface EndedMessage extends MessageKey {
  channel: Channel;
  connectionId: string;
  holds: boolean;
  /** Lease that has ended; null for a hold. */
  leaseId: string | null;
  hasFiles: boolean;
}

@Injectable()
export class StaleMessagesRepository {
  constructor(private readonly floors: QueueFloors) {}

  /** Locks the given messages whose lease or hold has ended. Skips rows that another process has locked. */
  lockEnded(tx: Transaction, tenantId: string, keys: MessageKey[]): Promise<EndedMessage[]> {
    return tx.prepared<EndedMessage>(
      `SELECT d.tenant_id AS "tenantId", d.conversation_id AS "conversationId", d.message_id AS "messageId",
              d.connection_id AS "connectionId", d.holds, d.lease_id AS "leaseId", w.channel,
              EXISTS (SELECT FROM messages m WHERE m.tenant_id = $1 AND m.conversation_id = d.conversation_id
                AND m.id = d.message_id AND m.attachment_count > 0) AS "hasFiles"
       FROM unnest($2::uuid[], $3::uuid[]) AS k (conversation_id, message_id), LATERAL (
         SELECT d.* FROM outbound_messages d
         WHERE d.tenant_id = $1 AND d.conversation_id = k.conversation_id AND d.message_id = k.message_id AND ${HAS_ENDED}
         LIMIT 1 FOR UPDATE SKIP LOCKED) d, LATERAL (
         SELECT channel FROM channel_connections w WHERE w.tenant_id = $1 AND w.id = d.connection_id LIMIT 1) w`,
      [tenantId, keys.map(({ conversationId }) => conversationId), keys.map(({ messageId }) => messageId)],
    );
  }

  /** Locks pending messages of a connection. Messages that wait for an earlier message come last. */
  lockPending(tx: Transaction, { tenantId, id }: Target, count: number): Promise<MessageKey[]> {
    return tx.prepared<MessageKey>(
      `SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId"
       FROM outbound_messages WHERE tenant_id = $1 AND connection_id = $2
         AND (waits, next_attempt_at) > (false, $4) AND lease_id IS NULL AND NOT holds
       ORDER BY waits, next_attempt_at, message_id LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [tenantId, id, count, this.floors.startOfSearch(messagesSubQueue(tenantId, id))],
    );
  }

  async findInactive(
    tx: Transaction,
    { tenantId, id }: Target,
  ): Promise<{ channel: Channel; status: ConnectionStatus } | null> {
    const [row] = await tx.prepared<{ channel: Channel; status: ConnectionStatus }>(
      `SELECT channel, status FROM channel_connections WHERE tenant_id = $1 AND id = $2 AND status <> 'ACTIVE'`,
      [tenantId, id],
    );
    return row ?? null;
  }
}
