import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import {
  FailedMessage,
  FailingMessage,
  MessageKey,
  MessageStatusRepository,
} from '../../messages/message-status.repository';
import { Metrics } from '../../metrics/metrics';
import { ConversationKey } from '../../database/tables/table-declaration';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound-message-queue';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { RoutedMessage, RoutedMessagesRepository } from './routed-messages.repository';

export interface RoutedWorkspaces {
  connected: Set<string>;
  /** Returns false only if no endpoint of the workspace subscribes to status events. */
  hasStatusSubscriber: (tenantId: string) => boolean;
}

/** Enqueues agents' messages for sending. Fails messages without a connection or a recipient at once. */
@Injectable()
export class OutboundMessageRouter {
  constructor(
    private readonly routes: RoutedMessagesRepository,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    @InjectWakeUps(OUTBOUND_MESSAGE_QUEUE) private readonly wakeUps: WakeUpQueue,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Returns the workspaces that have or had a connection. Other workspaces' messages fail without a look-up.
   */
  findConnected(tx: Transaction, tenantIds: string[]): Promise<Set<string>> {
    return this.routes.findConnected(tx, tenantIds);
  }

  /** Enqueues or fails the messages that are QUEUED. Idempotent. */
  async route(
    tx: Transaction,
    keys: MessageKey[],
    { connected, hasStatusSubscriber }: RoutedWorkspaces,
  ): Promise<void> {
    const routable = keys.filter(({ tenantId }) => connected.has(tenantId));
    const others = keys.filter(({ tenantId }) => !connected.has(tenantId));
    const failing: FailingMessage[] = others.map((key) => ({ ...key, code: 'NO_CONNECTION' }));
    const conversations = distinctConversations(routable);
    if (routable.length > 0) {
      this.routes.lockFirstPipelined(tx, conversations);
      const routed = await this.routes.enqueue(tx, routable);
      failing.push(...routed.filter(isFailing));
      tx.onCommit(() => this.wake(routed));
    }
    await this.fail(tx, failing, hasStatusSubscriber);
    // If a failed message was its conversation's first unsent message, the next message becomes due.
    const failedIn = new Set(failing.map(({ tenantId }) => tenantId));
    for (const { tenantId, conversationId } of conversations) {
      if (failedIn.has(tenantId)) this.messages.moveUpPipelined(tx, tenantId, conversationId);
    }
  }

  /** Fails messages. Waits for the result only in workspaces that may subscribe to status events. */
  private async fail(
    tx: Transaction,
    messages: FailingMessage[],
    hasStatusSubscriber: RoutedWorkspaces['hasStatusSubscriber'],
  ): Promise<void> {
    const withEvents = messages.filter(({ tenantId }) => hasStatusSubscriber(tenantId));
    const withoutEvents = messages.filter(({ tenantId }) => !hasStatusSubscriber(tenantId));
    if (withoutEvents.length > 0) {
      const { rows } = this.statuses.failWithoutEventsPipelined(tx, withoutEvents);
      tx.onCommit(() => void rows.then((failed) => this.count(failed)));
    }
    if (withEvents.length > 0) {
      const failed = await this.statuses.failAll(tx, withEvents);
      tx.onCommit(() => this.count(failed));
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
    this.wakeUps.wake([...connections.values()]);
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
