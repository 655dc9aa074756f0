import { Injectable, Logger } from '@nestjs/common';
import { violatesUnique } from '../../database/driver/database-errors';
import { Database } from '../../database/database';
import { customerIdsOf, InboundChange, InboundIds, InboundMessage } from '../adapters/hook-events';
import { lockingAll } from '../../contacts/more-identities';
import { isUsableId } from '../adapters/provider-values';
import { CustomerChangesService } from '../customers/customer-changes.service';
import { ChannelCustomersService } from '../customers/channel-customers.service';
import { LoadedConnection } from '../connections/connection-loader';
import { PROVIDER_MESSAGES_KEY } from '../provider-ids/provider-ids.repository';
import { InboundMessageWriter, NeverSent } from './inbound-message-writer';
import { ReceptionTimes } from './reception-times';

/** Stores customers' messages in their conversations. Stores a repeated message once. */
@Injectable()
export class InboundService {
  private readonly logger = new Logger(InboundService.name);

  constructor(
    private readonly database: Database,
    private readonly writer: InboundMessageWriter,
    private readonly customers: ChannelCustomersService,
    private readonly changes: CustomerChangesService,
    private readonly receptionTimes: ReceptionTimes,
  ) {}

  /**
   * Stores a message. Creates the contact and the conversation if needed.
   * @returns false if it is already stored, was taken back before it arrived, or has unusable ids
   */
  async receive(connection: LoadedConnection, message: InboundMessage): Promise<boolean> {
    if (![...customerIdsOf(message), ...message.providerIds].every(isUsableId)) {
      this.logger.warn({ connectionId: connection.id }, 'a message was ignored: its ids are unusable');
      return false;
    }
    try {
      const isNew = await lockingAll((more) =>
        this.database.transaction((tx) => this.writer.write(tx, connection, message, more)),
      );
      if (isNew) this.receptionTimes.observe(connection);
      return isNew;
    } catch (error) {
      // The unique key is violated if the same message came from two senders at once.
      if (error instanceof NeverSent || violatesUnique(error, PROVIDER_MESSAGES_KEY)) return false;
      throw error;
    }
  }

  /** Applies a customer's change. Stores a reaction to an unknown message as a message. */
  async change(connection: LoadedConnection, change: InboundChange): Promise<void> {
    const outcome = await this.changes.apply(connection, change);
    if (outcome === 'MESSAGE_UNKNOWN' && change.kind === 'reaction' && change.message)
      await this.receive(connection, change.message);
  }

  /** Links ids of one customer to the contact who has one of them. Idempotent. */
  async link(connection: LoadedConnection, event: InboundIds): Promise<void> {
    const { tenantId, channel } = connection;
    const { ids, previousIds, phone, at } = event;
    if (![...ids, ...previousIds].every(isUsableId)) return;
    const named = { channel, ids, previousIds, phone, at };
    await lockingAll((more) =>
      this.database.transaction((tx) => this.customers.link(tx, tenantId, { ...named, more })),
    );
  }
}
