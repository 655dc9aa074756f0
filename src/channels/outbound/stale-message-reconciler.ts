import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupByWorkspace } from '../../common/group-by';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeliveryError, DeliveryStatus } from '../../common/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { Metrics } from '../../metrics/metrics';
import { targetKeyOf, Target } from '../../queue/targets';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { deliveryError } from './delivery-error';
import { OUTBOUND_MESSAGE_QUEUE } from './claimed-message';
import { WakeUps } from '../../queue/wake-ups';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { PartSettler } from './parts/part-settler';
import { EndedMessage, StaleMessagesRepository } from './stale-messages.repository';

const INTERVAL_MS = 200;
const BATCH = 200;
/** Milliseconds to wait between two batches, so that failing many messages does not slow down other work. */
const PAUSE_MS = 20;

/**
 * Ends expired leases and holds, so that the conversations continue with their next messages. Fails messages
 * of connections that may not send. Each transaction concerns one workspace. If the process is killed,
 * `OutboundMessagePoll` finds the remaining messages.
 */
@Injectable()
export class StaleMessageReconciler implements BeforeApplicationShutdown {
  private readonly logger = new Logger(StaleMessageReconciler.name);
  private readonly runs = new Periodic(
    INTERVAL_MS,
    () => this.failAll(),
    (error) => this.logger.error({ err: error }, 'reconciling failed; it will be retried'),
  );
  /** Connections that may not send and whose pending messages must be failed. */
  private inactive = new Map<string, Target>();

  constructor(
    private readonly database: Database,
    private readonly stale: StaleMessagesRepository,
    private readonly messages: OutboundMessagesRepository,
    private readonly statuses: MessageStatusRepository,
    private readonly adapters: ChannelAdapters,
    private readonly parts: PartSettler,
    private readonly wakeUps: WakeUps,
    private readonly metrics: Metrics,
  ) {}

  beforeApplicationShutdown(): Promise<void> {
    return this.runs.stop();
  }

  /** Fails the pending messages of the given connections in the background. */
  failPending(connections: Target[]): void {
    for (const connection of connections) this.inactive.set(targetKeyOf(connection), connection);
    if (this.inactive.size > 0) this.runs.runLater();
  }

  /**
   * Ends expired leases and holds. A message whose lease expires may have been sent, so it becomes UNKNOWN
   * and is never retried.
   */
  async reconcile(ended: MessageKey[]): Promise<void> {
    for (const [tenantId, keys] of groupByWorkspace(ended)) {
      await this.tryTransaction(tenantId, (tx) => this.reconcileWorkspace(tx, tenantId, keys));
    }
  }

  /** Makes the first unsent message due in conversations in which every message waits for an earlier one. */
  async moveUp(conversations: Target[]): Promise<void> {
    for (const [tenantId, group] of groupByWorkspace(conversations)) {
      const ids = group.map(({ id }) => id);
      await this.tryTransaction(tenantId, (tx) => Promise.resolve(this.moveUpAndWake(tx, tenantId, ids)));
    }
  }

  /** Makes each conversation's first unsent message due. To be called when a message before it has ended. */
  moveUpAndWake(tx: Transaction, tenantId: string, conversationIds: string[]): void {
    for (const conversationId of new Set(conversationIds)) {
      const { rows } = this.messages.moveUpPipelined(tx, tenantId, conversationId);
      tx.onCommit(
        () =>
          void rows.then((moved) =>
            this.wakeUps.wake(
              OUTBOUND_MESSAGE_QUEUE,
              moved.map(({ id }) => ({ tenantId, id })),
            ),
          ),
      );
    }
  }

  /** Runs a transaction for a workspace. Logs a failure, so that the work for other workspaces goes on. */
  private async tryTransaction<T>(
    tenantId: string,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T | null> {
    try {
      return await this.database.queueTransaction(work);
    } catch (error) {
      this.logger.error({ err: error as Error, tenantId }, 'reconciling failed; it will be retried');
      return null;
    }
  }

  private async reconcileWorkspace(tx: Transaction, tenantId: string, keys: MessageKey[]): Promise<void> {
    const ended = await this.stale.lockEnded(tx, tenantId, keys);
    if (ended.length === 0) return;
    const leased = ended.filter(({ holds }) => !holds);
    const inParts = leased.filter((message) => this.isInParts(message));
    const whole = leased.filter((message) => !inParts.includes(message));
    const unknown = await this.advance(tx, whole, 'UNKNOWN', deliveryError('OUTCOME_UNKNOWN'));
    for (const message of ended) {
      const isUnknown = unknown.includes(message);
      const holdMs = isUnknown ? this.adapters.getAdapter(message.channel).unknownHoldMs : 0;
      if (!inParts.includes(message)) this.messages.endPipelined(tx, message, { holdMs });
    }
    for (const message of inParts) await this.endAttempt(tx, message);
    this.moveUpAndWake(
      tx,
      tenantId,
      ended.map(({ conversationId }) => conversationId),
    );
    tx.onCommit(() => {
      for (const { channel } of unknown) this.metrics.outboundMessages.inc({ channel, outcome: 'unknown' });
      this.wakeUps.wake(
        OUTBOUND_MESSAGE_QUEUE,
        ended.map(({ connectionId: id }) => ({ tenantId, id })),
      );
    });
  }

  /** Reports whether a message is sent in parts, of which the killed worker has sent one at most. */
  private isInParts({ hasFiles, channel }: EndedMessage): boolean {
    return hasFiles && this.adapters.getAdapter(channel).sendFile !== undefined;
  }

  /** Ends the attempt at a part, which may have arrived. The message's other parts are still sent. */
  private async endAttempt(tx: Transaction, message: EndedMessage): Promise<void> {
    const { isUnknown, isOver } = await this.parts.endAttempt(tx, message);
    const holdMs = isUnknown ? this.adapters.getAdapter(message.channel).unknownHoldMs : 0;
    if (isOver) this.messages.endPipelined(tx, message, { holdMs });
    else await this.messages.scheduleRetry(tx, { ...message, leaseId: message.leaseId! }, holdMs);
  }

  /**
   * Sets the status of messages. Each has its own statement, and all statements are sent together.
   * @returns the messages whose status has changed
   */
  private async advance<T extends MessageKey>(
    tx: Transaction,
    messages: T[],
    status: DeliveryStatus,
    error: DeliveryError,
  ): Promise<T[]> {
    const before = await Promise.all(messages.map((key) => this.statuses.advance(tx, key, status, error)));
    return messages.filter((_, n) => before[n] !== null);
  }

  /** Fails one batch for each connection in turn, so that a long queue does not delay other connections. */
  private async failAll(): Promise<void> {
    let remaining = [...this.inactive.values()];
    this.inactive = new Map();
    while (remaining.length > 0 && !this.runs.isStopped) {
      const unfinished: Target[] = [];
      for (const connection of remaining) {
        if (this.runs.isStopped) return;
        if (await this.failStep(connection)) unfinished.push(connection);
        await sleep(PAUSE_MS);
      }
      remaining = unfinished;
    }
  }

  private async failStep(connection: Target): Promise<boolean> {
    const { tenantId } = connection;
    const isUnfinished = await this.tryTransaction(tenantId, async (tx) => {
      const inactive = await this.stale.findInactive(tx, connection);
      if (!inactive) return false;
      const pending = await this.stale.lockPending(tx, connection, BATCH);
      if (pending.length === 0) return false;
      const code = inactive.status === 'REAUTH_REQUIRED' ? 'REAUTH_REQUIRED' : 'NO_CONNECTION';
      for (const message of pending) this.messages.endPipelined(tx, message);
      const failed = await this.advance(tx, pending, 'FAILED', deliveryError(code));
      const conversationIds = pending.map(({ conversationId }) => conversationId);
      // Later messages of these conversations can be sent if the account has been connected again.
      this.moveUpAndWake(tx, tenantId, conversationIds);
      const labels = { channel: inactive.channel, outcome: code.toLowerCase() };
      tx.onCommit(() => this.metrics.outboundMessages.inc(labels, failed.length));
      return pending.length === BATCH;
    });
    return isUnfinished ?? false;
  }
}
