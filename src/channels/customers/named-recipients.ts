import { Injectable, Logger } from '@nestjs/common';
import { ContactIdentitiesRepository } from '../../contacts/contact-identities.repository';
import { lockingAll } from '../../contacts/more-identities';
import { isDatabaseAway } from '../../database/driver/database-errors';
import { Database } from '../../database/database';
import { Connection } from '../adapters/channel-adapter';
import { isUsableId } from '../adapters/provider-values';
import { ChannelCustomersService } from './channel-customers.service';

const STEP = 500;

/** Links the ids that providers report for a recipient to the recipient's contact. */
@Injectable()
export class NamedRecipients {
  private readonly logger = new Logger(NamedRecipients.name);

  constructor(
    private readonly database: Database,
    private readonly identities: ContactIdentitiesRepository,
    private readonly customers: ChannelCustomersService,
  ) {}

  /**
   * Links the ids of each recipient to one contact. Skips recipients whose ids are linked, because providers
   * repeat the same ids with each message. Never throws, because the next message repeats the ids.
   */
  async link(connection: Connection, recipients: string[][]): Promise<void> {
    const named = recipients.filter((ids) => ids.length > 1 && ids.every(isUsableId));
    const unique = [...new Map(named.map((ids) => [ids.join(' '), ids])).values()];
    let isAway = false;
    const attempt = async (work: () => Promise<void>) => {
      await work().catch((err: Error) => {
        isAway = isDatabaseAway(err);
        this.logger.warn({ err, tenantId: connection.tenantId }, "recipients' ids are not linked yet");
      });
    };
    for (let at = 0; at < unique.length && !isAway; at += STEP)
      await attempt(async () => {
        for (const ids of await this.listUnlinked(connection, unique.slice(at, at + STEP)))
          if (!isAway) await attempt(() => this.linkIds(connection, ids));
      });
  }

  /** Returns the recipients with one id that belongs to a contact and one that does not belong to it. */
  private async listUnlinked({ tenantId, channel }: Connection, recipients: string[][]): Promise<string[][]> {
    const found = await this.identities.findOwners(tenantId, channel, [...new Set(recipients.flat())]);
    const owners = new Map(found.map(({ externalId, contactId }) => [externalId, contactId]));
    return recipients.filter((ids) => new Set(ids.map((id) => owners.get(id))).size > 1);
  }

  private async linkIds({ tenantId, channel }: Connection, ids: string[]): Promise<void> {
    const named = { channel, ids, phone: null, at: new Date() };
    await lockingAll((more) =>
      this.database.transaction((tx) => this.customers.link(tx, tenantId, { ...named, more })),
    );
  }
}
