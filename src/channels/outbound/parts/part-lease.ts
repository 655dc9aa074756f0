import { Logger } from '@nestjs/common';
import { Database } from '../../../database/database';
import { ClaimedMessage } from '../claimed-message';
import { OutboundMessagesRepository } from '../outbound-messages.repository';
import { MessagePart } from './message-part';
import { MessagePartsRepository } from './message-parts.repository';

/** Milliseconds between two extensions of a lease, which lasts 20 s. */
const EXTEND_MS = 5_000;

/** Lease of a message while one of its parts is sent. An upload may take longer than a lease lasts. */
export class PartLease {
  /** Whether the part's request may have been written, so that it may arrive. */
  hasBegun = false;
  private readonly ended = new AbortController();
  private readonly logger = new Logger(PartLease.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly messages: OutboundMessagesRepository,
    private readonly parts: MessagePartsRepository,
    private readonly message: ClaimedMessage,
    private readonly part: MessagePart,
  ) {}

  /** Ends uploads when the lease is lost. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /** Whether another worker may send the message, or the message is erased. */
  get isLost(): boolean {
    return this.ended.signal.aborted;
  }

  /** Extends the lease every few seconds, until `stop`. */
  start(): void {
    this.timer = setInterval(() => void this.extend(), EXTEND_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /**
   * Records that the part is about to be sent. After that, it is never sent again unless the provider has
   * refused it.
   * @throws LeaseLost; the database's error
   */
  async begin(): Promise<void> {
    const mayBegin = await this.inWorkspace((tx) => this.beginIn(tx));
    if (!mayBegin) {
      this.ended.abort();
      throw new LeaseLost();
    }
    this.hasBegun = true;
  }

  private async beginIn(tx: Parameters<OutboundMessagesRepository['extendLease']>[0]): Promise<boolean> {
    const isHeld = await this.messages.extendLease(tx, this.message);
    return isHeld && (await this.parts.begin(tx, this.part));
  }

  private async extend(): Promise<void> {
    try {
      const isHeld = await this.inWorkspace((tx) => this.messages.extendLease(tx, this.message));
      if (!isHeld) this.ended.abort();
    } catch (error) {
      // If the lease ends meanwhile, `begin` finds this.
      const { messageId } = this.message;
      this.logger.warn({ err: error as Error, messageId }, 'a lease was not extended; retrying');
    }
  }

  private inWorkspace<T>(
    work: (tx: Parameters<OutboundMessagesRepository['extendLease']>[0]) => Promise<T>,
  ): Promise<T> {
    return this.database.placement.forWorkspace(this.message.tenantId, () =>
      this.database.queueTransaction(work),
    );
  }
}

export class LeaseLost extends Error {
  constructor() {
    super('the lease of the message has ended');
  }
}
