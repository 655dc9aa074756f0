import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel';
import { Transaction } from '../../database/transaction';
import { DELIVERY_ERROR_CODES, DeliveryErrorCode } from '../../messages/message-status';
import { Metrics } from '../../metrics/metrics';
import { OutboundMessageQueue } from './outbound-message.queue';
import { RECIPIENT } from './outbound-messages.repository';

/** Enqueued messages of one connection, or failed messages of one channel. */
interface RoutedMessages {
  tenantId: string;
  connectionId: string | null;
  channel: Channel;
  code: DeliveryErrorCode | null;
  count: number;
}

/** Enqueues agents' messages at their connections. Messages without a connection or a recipient fail at once. */
@Injectable()
export class OutboundMessageRouter {
  constructor(
    private readonly queue: OutboundMessageQueue,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Routing a message again changes nothing.
   * @param selection selects QUEUED messages by `tenant_id, conversation_id, id`, and locks them in this order, so that
   * two processes can't deadlock; its parameters begin at $2
   */
  async route(tx: Transaction, selection: string, parameters: unknown[]): Promise<void> {
    const routed = await tx.prepared<RoutedMessages>(
      `WITH selected AS (${selection}), routed AS (
         SELECT s.*, c.source_channel AS channel, w.id AS connection_id,
           CASE WHEN w.id IS NULL THEN 'NO_CONNECTION' WHEN w.status <> 'ACTIVE' THEN 'REAUTH_REQUIRED'
                WHEN ${RECIPIENT} IS NULL THEN 'NO_RECIPIENT' END AS code
         FROM selected s JOIN conversations c ON c.tenant_id = s.tenant_id AND c.id = s.conversation_id
         LEFT JOIN channel_connections w
           ON w.tenant_id = c.tenant_id AND w.channel = c.source_channel AND w.status <> 'DISCONNECTED'
       ), queued AS (
         INSERT INTO message_dispatches
           (tenant_id, conversation_id, message_id, connection_id, next_attempt_at, created_at)
         SELECT tenant_id, conversation_id, id, connection_id, now(), now() FROM routed WHERE code IS NULL
         ON CONFLICT DO NOTHING
       ), failed AS (
         UPDATE messages m SET delivery_status = 'FAILED', delivery_error = jsonb_build_object(
           'code', r.code, 'providerCode', NULL, 'message', $1::jsonb->>r.code)
         FROM routed r
         WHERE r.code IS NOT NULL
           AND m.tenant_id = r.tenant_id AND m.conversation_id = r.conversation_id AND m.id = r.id
       )
       SELECT tenant_id AS "tenantId", CASE WHEN code IS NULL THEN connection_id END AS "connectionId", channel, code,
              count(*)::integer
       FROM routed GROUP BY 1, 2, 3, 4`,
      [JSON.stringify(DELIVERY_ERROR_CODES), ...parameters],
    );
    tx.onCommit(() => this.wakeAndCount(routed));
  }

  private wakeAndCount(routed: RoutedMessages[]): void {
    this.queue.wake(
      routed.flatMap(({ tenantId, connectionId }) => (connectionId ? { tenantId, id: connectionId } : [])),
    );
    for (const { channel, code, count } of routed) {
      if (code) this.metrics.outboundMessages.inc({ channel, outcome: code.toLowerCase() }, count);
    }
  }
}
