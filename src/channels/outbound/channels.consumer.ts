import { Injectable, OnModuleInit } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Channel } from '../../common/channel-descriptors';
import { Transaction } from '../../database/transaction';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { EventData } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { ConsumeEvents, OutboxConsumer } from '../../outbox/outbox.consumer';
import { OutboxRelay } from '../../outbox/outbox-relay';
import { deliveryError } from './delivery-error';
import { OutboundMessageRouter } from './outbound-message-router';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { failUnconnectedSql } from './routed-messages.repository';
import { StaleMessageReconciler } from './stale-message-reconciler';

/** Consumes `message.created` events: enqueues agents' messages for sending. */
@Injectable()
export class ChannelsConsumer implements OutboxConsumer, OnModuleInit {
  readonly name = 'channels';
  readonly handleSql = failUnconnectedSql;

  constructor(
    private readonly relay: OutboxRelay,
    private readonly router: OutboundMessageRouter,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly stale: StaleMessageReconciler,
  ) {}

  onModuleInit(): void {
    this.relay.register(this);
  }

  prepareConsumer(): Promise<ConsumeEvents> {
    return Promise.resolve((_, events) => {
      const keys: MessageKey[] = [];
      for (const event of events)
        for (const key of listRepliesOf(event)) {
          if (event.result === null) keys.push(key);
          else this.router.noteUnconnected(key, event.result as Channel);
        }
      return keys.length === 0 ? {} : { write: (tx) => this.router.route(tx, keys) };
    });
  }

  /**
   * Fails the message of an event that an operator has dropped, so that the conversation's next message is
   * sent. Does nothing if the message is already in the queue of messages to send.
   */
  async giveUp(tx: Transaction, event: OutboxEvent): Promise<void> {
    const { tenantId } = event;
    const { conversationId, messageId } = readMessageKey(event);
    if (!isId(conversationId) || !isId(messageId)) return;
    const key = { tenantId, conversationId, messageId };
    const isRouted = (await this.messages.lock(tx, key)) !== null;
    if (isRouted) return;
    const error = deliveryError('GIVEN_UP');
    if ((await this.statuses.advance(tx, key, 'FAILED', error, ['QUEUED'])) === null) return;
    this.stale.moveUpAndWake(tx, tenantId, [conversationId]);
  }
}

/** Returns the key of the agent's message that an event reports, or nothing for any other event. */
function listRepliesOf({ tenantId, type, data }: OutboxEvent): MessageKey[] {
  if (type !== 'message.created') return [];
  const { conversationId, message } = JSON.parse(data) as EventData<'message.created'>;
  return message.senderType === 'AGENT' ? [{ tenantId, conversationId, messageId: message.id }] : [];
}

/** Reads the ids in an event. They can be of any type, because invalid data may be why the event failed. */
function readMessageKey({ data }: OutboxEvent): { conversationId: unknown; messageId: unknown } {
  const parsed = JSON.parse(data) as { conversationId?: unknown; message?: { id?: unknown } | null } | null;
  return { conversationId: parsed?.conversationId, messageId: parsed?.message?.id };
}
