import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryErrorCode } from '../../messages/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Metrics } from '../../metrics/metrics';
import { ConversationKey } from '../../stored-data/table-declaration';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound-message-queue';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { RoutedMessage, RoutedMessagesRepository } from './routed-messages.repository';

type FailedMessage = MessageKey & { connectionId: null; code: DeliveryErrorCode };

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

  /** Reads which of the workspaces were ever connected. Messages of others need no route. */
  findConnected(tx: Transaction, tenantIds: string[]): Promise<Set<string>> {
    return this.routes.findConnected(tx, tenantIds);
  }

  /**
   * Routes messages that are QUEUED. Routing a message again changes nothing.
   * @param connected workspaces as `findConnected` returned them in this transaction
   */
  async route(tx: Transaction, keys: MessageKey[], connected: Set<string>): Promise<void> {
    const routable = keys.filter(({ tenantId }) => connected.has(tenantId));
    const others = keys.filter(({ tenantId }) => !connected.has(tenantId));
    const failed: FailedMessage[] = others.map((key) => ({
      ...key,
      connectionId: null,
      code: 'NO_CONNECTION',
    }));
    const conversations = distinctConversations(routable);
    if (routable.length > 0) {
      this.routes.lockFirstPipelined(tx, conversations);
      const routed = await this.routes.enqueue(tx, routable);
      failed.push(...routed.filter(hasFailed));
      tx.onCommit(() => this.wake(routed));
    }
    if (failed.length > 0) await this.fail(tx, failed);
    // A failed message may have been the first.
    const failedIn = new Set(failed.map(({ tenantId }) => tenantId));
    for (const { tenantId, conversationId } of conversations) {
      if (failedIn.has(tenantId)) this.messages.moveUpPipelined(tx, tenantId, conversationId);
    }
  }

  private async fail(tx: Transaction, messages: FailedMessage[]): Promise<void> {
    const failed = await this.statuses.failAll(tx, messages);
    tx.onCommit(() => {
      for (const { channel, errorCode } of failed)
        this.metrics.outboundMessages.inc({ channel, outcome: errorCode.toLowerCase() });
    });
  }

  private wake(routed: RoutedMessage[]): void {
    const connections = new Map(
      routed.flatMap(({ tenantId, connectionId: id }) => (id ? [[id, { tenantId, id }]] : [])),
    );
    this.wakeUps.wake([...connections.values()]);
  }
}

function hasFailed(message: RoutedMessage): message is FailedMessage {
  return message.code !== null;
}

/** Returns each conversation once, in one order for all callers, so that two processes can't deadlock. */
function distinctConversations(keys: MessageKey[]): ConversationKey[] {
  const conversations = new Map(keys.map((key) => [key.tenantId + key.conversationId, key]));
  return [...conversations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}
