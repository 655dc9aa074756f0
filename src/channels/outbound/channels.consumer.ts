import { Injectable, OnModuleInit } from '@nestjs/common';
import { Channel } from '../../common/channel';
import { Transaction } from '../../database/database';
import { DELIVERY_ERROR_CODES, DeliveryErrorCode } from '../../messages/message-status';
import { Metrics } from '../../metrics/metrics';
import { OutboxConsumer, OutboxEvent, OutboxRelay } from '../../outbox/outbox.relay';
import { DispatchQueue } from './dispatch.queue';
import { RECIPIENT } from './dispatch.store';

/** Replies of one connection, or of one channel that have no way to go. */
interface Routed {
  connectionId: string | null;
  channel: Channel;
  code: DeliveryErrorCode | null;
  count: number;
}

/** Turns the events of agents' messages into what is to be sent; what has no way to go fails at once. */
@Injectable()
export class ChannelsConsumer implements OutboxConsumer, OnModuleInit {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly queue: DispatchQueue,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const created = events.filter(({ type }) => type === 'message.created');
    if (created.length === 0) return;
    const routed = await this.route(tx, created);
    tx.onCommit(() => this.after(routed));
  }

  /** One statement for all of them. Messages are locked in the order of ids, so that no two relays wait for each other. */
  private route(tx: Transaction, events: OutboxEvent[]): Promise<Routed[]> {
    return tx.query<Routed>(
      `WITH fresh AS (
         SELECT m.tenant_id, m.conversation_id, m.id FROM unnest($1::uuid[], $2::uuid[]) AS f (tenant_id, id)
         JOIN events e ON e.tenant_id = f.tenant_id AND e.id = f.id
         JOIN messages m ON m.tenant_id = e.tenant_id
           AND m.conversation_id = (e.data->>'conversationId')::uuid AND m.id = (e.data->'message'->>'id')::uuid
         WHERE m.delivery_status = 'QUEUED'
         ORDER BY m.tenant_id, m.conversation_id, m.id FOR NO KEY UPDATE OF m
       ), routed AS (
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
           'code', r.code, 'providerCode', NULL, 'message', $3::jsonb->>r.code)
         FROM routed r
         WHERE r.code IS NOT NULL
           AND m.tenant_id = r.tenant_id AND m.conversation_id = r.conversation_id AND m.id = r.id
       )
       SELECT CASE WHEN code IS NULL THEN connection_id END AS "connectionId", channel, code, count(*)::integer
       FROM routed GROUP BY 1, 2, 3`,
      [
        events.map(({ tenantId }) => tenantId),
        events.map(({ id }) => id),
        JSON.stringify(DELIVERY_ERROR_CODES),
      ],
    );
  }

  private after(routed: Routed[]): void {
    this.queue.wake(routed.flatMap(({ connectionId }) => connectionId ?? []));
    for (const { channel, code, count } of routed) {
      if (code) this.metrics.channelMessages.inc({ channel, outcome: code.toLowerCase() }, count);
    }
  }
}
