import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel';
import { Transaction } from '../../database/transaction';
import { DELIVERY_ERROR_CODES, DeliveryErrorCode } from '../../messages/message-status';
import { Metrics } from '../../metrics/metrics';
import { OutboundMessageQueue } from './outbound-message.queue';
import { RECIPIENT } from './outbound-messages.repository';

/** Replies of one connection, or of one channel that have no way to go. */
interface Routed {
  connectionId: string | null;
  channel: Channel;
  code: DeliveryErrorCode | null;
  count: number;
}

/** Sets agents' messages on their way; what has no way to go fails at once. */
@Injectable()
export class OutboundMessageRouter {
  constructor(
    private readonly queue: OutboundMessageQueue,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Routes all of them in one statement. To route a message again changes nothing.
   * @param fresh selects the messages by `tenant_id, conversation_id, id`, QUEUED ones only, and locks them in this
   * order, so that no two processes wait for each other; its parameters begin at $2
   */
  async route(tx: Transaction, fresh: string, parameters: unknown[]): Promise<void> {
    const routed = await tx.prepared<Routed>(
      `WITH fresh AS (${fresh}), routed AS (
         SELECT f.*, c.source_channel AS channel, w.id AS connection_id,
           CASE WHEN w.id IS NULL THEN 'NO_CONNECTION' WHEN w.status <> 'ACTIVE' THEN 'REAUTH_REQUIRED'
                WHEN ${RECIPIENT} IS NULL THEN 'NO_RECIPIENT' END AS code
         FROM fresh f JOIN conversations c ON c.tenant_id = f.tenant_id AND c.id = f.conversation_id
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
       SELECT CASE WHEN code IS NULL THEN connection_id END AS "connectionId", channel, code, count(*)::integer
       FROM routed GROUP BY 1, 2, 3`,
      [JSON.stringify(DELIVERY_ERROR_CODES), ...parameters],
    );
    tx.onCommit(() => this.after(routed));
  }

  private after(routed: Routed[]): void {
    this.queue.wake(routed.flatMap(({ connectionId }) => connectionId ?? []));
    for (const { channel, code, count } of routed) {
      if (code) this.metrics.outboundMessages.inc({ channel, outcome: code.toLowerCase() }, count);
    }
  }
}
