import { Injectable, OnModuleInit } from '@nestjs/common';
import { Transaction } from '../../database/database';
import { OutboxConsumer, OutboxEvent, OutboxRelay } from '../../outbox/outbox.relay';
import { DispatchRouter } from './dispatch.router';

/** The messages of events $2, $3 that wait to be sent. */
const OF_EVENTS = `
  SELECT m.tenant_id, m.conversation_id, m.id FROM unnest($2::uuid[], $3::uuid[]) AS f (tenant_id, id)
  JOIN events e ON e.tenant_id = f.tenant_id AND e.id = f.id
  JOIN messages m ON m.tenant_id = e.tenant_id
    AND m.conversation_id = (e.data->>'conversationId')::uuid AND m.id = (e.data->'message'->>'id')::uuid
  WHERE m.delivery_status = 'QUEUED'
  ORDER BY m.tenant_id, m.conversation_id, m.id FOR NO KEY UPDATE OF m`;

/** Turns the events of agents' messages into what is to be sent. */
@Injectable()
export class ChannelsConsumer implements OutboxConsumer, OnModuleInit {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly router: DispatchRouter,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const created = events.filter(({ type }) => type === 'message.created');
    if (created.length === 0) return;
    await this.router.route(tx, OF_EVENTS, [
      created.map(({ tenantId }) => tenantId),
      created.map(({ id }) => id),
    ]);
  }
}
