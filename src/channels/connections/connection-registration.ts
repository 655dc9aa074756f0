import { Injectable } from '@nestjs/common';
import { Channel, hookUrlOf, snippetOf } from '../../common/channel-descriptors';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { CheckedCredentials, Connection } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionAddresses } from './channel-connection.dto';

/** Validates credentials, tests them at the provider, and registers the hook there. */
@Injectable()
export class ConnectionRegistration {
  constructor(
    private readonly database: Database,
    private readonly adapters: ChannelAdapters,
    private readonly budgets: WorkBudgets,
    private readonly config: Config,
  ) {}

  /** Runs a transaction that calls a provider. While it waits to begin, other requests can be served. */
  async transaction<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.budgets.releaseSlot();
    const release = await this.budgets.acquire('providers', tenantId);
    try {
      await this.budgets.reacquireSlot();
      return await this.database.transaction(work);
    } finally {
      release();
    }
  }

  check(channel: Channel, credentials: unknown, previous?: Connection): CheckedCredentials {
    return this.adapters.getAdapter(channel).check(credentials, previous);
  }

  prove(connection: Connection): Promise<void> {
    return this.adapters.getAdapter(connection.channel).prove(connection);
  }

  register(connection: Connection): Promise<void> {
    const { hookUrl } = this.getAddresses(connection);
    return this.adapters.getAdapter(connection.channel).register(connection, hookUrl);
  }

  async unregister(connection: Connection): Promise<void> {
    const { tenantId, channel } = connection;
    const unregister = () => this.adapters.getAdapter(channel).unregister(connection);
    await this.budgets.waitOutside('providers', tenantId, unregister);
  }

  getAddresses(connection: Pick<Connection, 'channel' | 'hookKey'>): ConnectionAddresses {
    const { publicUrl } = this.config;
    return { hookUrl: hookUrlOf(publicUrl, connection), snippet: snippetOf(publicUrl, connection) };
  }
}
