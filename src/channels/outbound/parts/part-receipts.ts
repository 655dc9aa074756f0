import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../database/transaction';
import { TARGET_DUE } from '../../../queue/targets';
import { RedisSignals } from '../../../redis/redis-signals';
import { Connection } from '../../adapters/channel-adapter';
import { AppliedReceipt } from '../../provider-ids/provider-ids.repository';
import { OUTBOUND_MESSAGE_QUEUE } from '../claimed-message';
import { OutboundMessagesRepository } from '../outbound-messages.repository';
import { MessagePartsRepository } from './message-parts.repository';
import { PartSettler } from './part-settler';

/** Applies receipts to parts of messages. */
@Injectable()
export class PartReceipts {
  constructor(
    private readonly parts: MessagePartsRepository,
    private readonly settler: PartSettler,
    private readonly outboundMessages: OutboundMessagesRepository,
    private readonly signals: RedisSignals,
  ) {}

  /**
   * Applies a receipt to the part that it names by the provider's id or by the service's own.
   * @returns false if there is no such part
   */
  async apply(
    tx: Transaction,
    connection: Connection,
    receipt: AppliedReceipt & { messageId: string | null },
  ): Promise<boolean> {
    const { tenantId, id } = connection;
    const { providerId, messageId } = receipt;
    const part =
      (await this.parts.findByProviderId(tx, connection, providerId)) ??
      (messageId === null ? null : await this.parts.findUnsettled(tx, tenantId, messageId));
    if (!part) return false;
    const outbound = await this.outboundMessages.lock(tx, part);
    const { isOver } = await this.settler.applyReceipt(tx, connection, part, receipt);
    // A leased message stays in the queue, because the worker that holds the lease removes it.
    if (!isOver || !outbound || outbound.isLeased) return true;
    this.outboundMessages.finish(tx, part);
    const due = { queue: OUTBOUND_MESSAGE_QUEUE, target: { tenantId, id } };
    tx.onCommit(() => this.signals.send(TARGET_DUE, tenantId, due));
    return true;
  }
}
