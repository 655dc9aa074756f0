import { Injectable, OnModuleInit } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { EventData } from '../../outbox/event-catalog';
import { OutboxConsumer, OutboxEvent, OutboxRelay } from '../../outbox/outbox.relay';
import { OutboundMessageRouter } from './outbound-message.router';
import { STATUS_BY_KEY } from './outbound-messages.repository';

const SELECT_QUEUED = `
  SELECT m.tenant_id, m.conversation_id, m.id
  FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS f (tenant_id, conversation_id, id)
  JOIN messages m ON m.tenant_id = f.tenant_id AND m.conversation_id = f.conversation_id AND m.id = f.id
  WHERE ${STATUS_BY_KEY} = 'QUEUED'
  ORDER BY m.tenant_id, m.conversation_id, m.id FOR NO KEY UPDATE OF m`;

/** Routes the agents' messages of relayed events. */
@Injectable()
export class ChannelsConsumer implements OutboxConsumer, OnModuleInit {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly router: OutboundMessageRouter,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async consume(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const created = events.filter(({ type }) => type === 'message.created');
    if (created.length === 0) return;
    const data = created.map((event) => JSON.parse(event.data) as EventData<'message.created'>);
    await this.router.route(tx, SELECT_QUEUED, [
      created.map(({ tenantId }) => tenantId),
      data.map(({ conversationId }) => conversationId),
      data.map(({ message }) => message.id),
    ]);
  }
}
