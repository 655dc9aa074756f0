import { Injectable, OnModuleInit } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { EventData } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { ConsumerTurn, OutboxConsumer } from '../../outbox/outbox.consumer';
import { OutboxRelay } from '../../outbox/outbox.relay';
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
  readonly name = 'channels';

  constructor(
    private readonly relay: OutboxRelay,
    private readonly router: OutboundMessageRouter,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  async begin(tx: Transaction): Promise<ConsumerTurn> {
    return {
      limitOf: () => Infinity,
      take: async (events) => {
        await this.route(tx, events);
        return new Set();
      },
    };
  }

  private async route(tx: Transaction, events: OutboxEvent[]): Promise<void> {
    const written = events.filter(({ type }) => type === 'message.created').map(toWritten);
    const byAgents = written.filter(({ message }) => message.senderType === 'AGENT');
    if (byAgents.length === 0) return;
    await this.router.route(tx, SELECT_QUEUED, [
      byAgents.map(({ tenantId }) => tenantId),
      byAgents.map(({ conversationId }) => conversationId),
      byAgents.map(({ message }) => message.id),
    ]);
  }
}

function toWritten({ tenantId, data }: OutboxEvent) {
  return { tenantId, ...(JSON.parse(data) as EventData<'message.created'>) };
}
