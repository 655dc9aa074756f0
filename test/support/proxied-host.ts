import { MessagingOptions } from '../../src/app/messaging.module';
import { MessagingHost } from './messaging-host';
import { PostgresProxy } from './postgres-proxy';
import { createStores, TestStores } from './test-database';

/** A backend that reaches its database through a proxy, with which a test makes the database fail. */
export class ProxiedHost {
  private constructor(
    readonly stores: TestStores,
    readonly proxy: PostgresProxy,
    readonly host: MessagingHost,
  ) {}

  static async create(options: Partial<MessagingOptions> = {}): Promise<ProxiedHost> {
    const stores = await createStores();
    const proxy = await PostgresProxy.start(stores.databaseUrl);
    const host = await MessagingHost.create({ ...options, beside: { stores }, databaseUrl: proxy.address });
    return new ProxiedHost(stores, proxy, host);
  }
}
