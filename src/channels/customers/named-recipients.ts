import { Injectable, Logger } from '@nestjs/common';
import { Memo } from '../../common/memo';
import { Database } from '../../database/database';
import { Connection } from '../adapters/channel-adapter';
import { isUsableId } from '../adapters/support/provider-values';
import { ChannelCustomersService } from './channel-customers.service';

/** Number of customers whose ids a process remembers as linked. */
const MAX_REMEMBERED = 10_000;

/**
 * Links the ids by which providers name the recipients of sent messages. A provider names the same ones again
 * with each message, so they cost statements once in a process.
 */
@Injectable()
export class NamedRecipients {
  private readonly logger = new Logger(NamedRecipients.name);
  private readonly linked = new Memo<true>(MAX_REMEMBERED);

  constructor(
    private readonly database: Database,
    private readonly customers: ChannelCustomersService,
  ) {}

  /** Links ids of one recipient. It never throws: the provider names them again. */
  async link({ tenantId, channel }: Connection, ids: string[]): Promise<void> {
    if (ids.length < 2 || !ids.every(isUsableId)) return;
    const key = [tenantId, channel, ...ids].join(' ');
    if (this.linked.find(key)) return;
    try {
      const named = { channel, ids, phone: null, at: new Date() };
      await this.database.transaction((tx) => this.customers.link(tx, tenantId, named));
      this.linked.set(key, true);
    } catch (err) {
      this.logger.warn({ err: err as Error, tenantId }, "a recipient's ids are not linked yet");
    }
  }
}
