import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryErrorCode } from '../../messages/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Metrics } from '../../metrics/metrics';
import { ConversationKey } from '../../stored-data/table-declaration';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound-message-queue';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { RoutedMessages, RoutedMessagesRepository } from './routed-messages.repository';

/**
 * Enqueues agents' messages at their connections. Messages without a connection or a recipient fail at once.
 */
@Injectable()
export class OutboundMessageRouter {
  constructor(
    private readonly routes: RoutedMessagesRepository,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    @InjectWakeUps(OUTBOUND_MESSAGE_QUEUE) private readonly wakeUps: WakeUpQueue,
    private readonly metrics: Metrics,
  ) {}

  /** Routes messages that are QUEUED. Routing a message again changes nothing. */
  async route(tx: Transaction, keys: MessageKey[]): Promise<void> {
    const conversations = distinctConversations(keys);
    this.routes.lockFirstPipelined(tx, conversations);
    const routed = await this.routes.enqueue(tx, keys);
    const failed = routed.flatMap(listFailed);
    if (failed.length > 0) this.statuses.failPipelined(tx, failed);
    // A failed message may have been the first.
    const failedIn = new Set(failed.map(({ tenantId }) => tenantId));
    for (const { tenantId, conversationId } of conversations) {
      if (failedIn.has(tenantId)) this.messages.moveUpPipelined(tx, tenantId, conversationId);
    }
    tx.onCommit(() => this.wakeAndCount(routed));
  }

  private wakeAndCount(routed: RoutedMessages[]): void {
    this.wakeUps.wake(
      routed.flatMap(({ tenantId, connectionId }) => (connectionId ? { tenantId, id: connectionId } : [])),
    );
    for (const { channel, code, count } of routed) {
      if (code) this.metrics.outboundMessages.inc({ channel, outcome: code.toLowerCase() }, count);
    }
  }
}

function listFailed({
  tenantId,
  code,
  conversationIds,
  messageIds,
}: RoutedMessages): (MessageKey & { code: DeliveryErrorCode })[] {
  if (code === null) return [];
  return messageIds!.map((messageId, n) => ({
    tenantId,
    conversationId: conversationIds![n]!,
    messageId,
    code,
  }));
}

/** Returns each conversation once, in one order for all callers, so that two processes can't deadlock. */
function distinctConversations(keys: MessageKey[]): ConversationKey[] {
  const conversations = new Map(keys.map((key) => [key.tenantId + key.conversationId, key]));
  return [...conversations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}
