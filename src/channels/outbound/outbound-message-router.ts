import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { Transaction } from '../../database/transaction';
import {
  FailedMessage,
  FailingMessage,
  MessageKey,
  MessageStatusRepository,
} from '../../messages/message-status.repository';
import { Metrics } from '../../metrics/metrics';
import { ConversationKey } from '../../database/tables/table-declaration';
import { OUTBOUND_MESSAGE_QUEUE } from './claimed-message';
import { WakeUps } from '../../queue/wake-ups';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { RoutedMessage, RoutedMessagesRepository } from './routed-messages.repository';

/** Enqueues agents' messages for sending. Fails messages without a connection or a recipient at once. */
@Injectable()
export class OutboundMessageRouter {
  constructor(
    private readonly routes: RoutedMessagesRepository,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly wakeUps: WakeUps,
    private readonly metrics: Metrics,
  ) {}

  /** Counts a message that the SQL of `failUnconnectedSql` has failed, and reports it to open inboxes. */
  noteUnconnected({ tenantId, conversationId }: ConversationKey, channel: Channel): void {
    this.statuses.noteFailed(tenantId, conversationId);
    this.count([{ channel, errorCode: 'NO_CONNECTION' }]);
  }

  /** Enqueues or fails the messages that are QUEUED. Idempotent. */
  async route(tx: Transaction, keys: MessageKey[]): Promise<void> {
    const conversations = distinctConversations(keys);
    this.routes.lockFirstPipelined(tx, conversations);
    const routed = await this.routes.enqueue(tx, keys);
    tx.onCommit(() => this.wake(routed));
    const failing = routed.filter(isFailing);
    if (failing.length === 0) return;
    const failed = await this.statuses.failAll(tx, failing);
    tx.onCommit(() => this.count(failed));
    // If a failed message was its conversation's first unsent message, the next message becomes due.
    const failedIn = new Set(failing.map(({ tenantId }) => tenantId));
    for (const { tenantId, conversationId } of conversations) {
      if (failedIn.has(tenantId)) this.messages.moveUpPipelined(tx, tenantId, conversationId);
    }
  }

  private count(failed: FailedMessage[]): void {
    for (const { channel, errorCode } of failed)
      this.metrics.outboundMessages.inc({ channel, outcome: errorCode.toLowerCase() });
  }

  private wake(routed: RoutedMessage[]): void {
    const connections = new Map(
      routed.flatMap(({ tenantId, connectionId: id }) => (id ? [[id, { tenantId, id }]] : [])),
    );
    this.wakeUps.wake(OUTBOUND_MESSAGE_QUEUE, [...connections.values()]);
  }
}

function isFailing(message: RoutedMessage): message is Extract<RoutedMessage, FailingMessage> {
  return message.code !== null;
}

/** Returns each conversation once, in the order in which every process locks them, to avoid deadlocks. */
function distinctConversations(keys: MessageKey[]): ConversationKey[] {
  const conversations = new Map(keys.map((key) => [key.tenantId + key.conversationId, key]));
  return [...conversations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}
