import { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule, MessagingOptions } from '../../src/app/messaging.module';
import { Target, TARGET_DUE } from '../../src/queue/targets';
import { RedisSignals } from '../../src/redis/redis-signals';
import { DELIVERY_QUEUE } from '../../src/webhooks/deliveries/delivery';
import { Fixtures } from './fixtures';
import { createStores, dropStores, fileFolderOf, setting, TestDatabase, TestStores } from './test-database';
import { forgetStop, stopAtEnd } from './stop-at-end';

interface HostOptions extends Partial<MessagingOptions> {
  /** Service whose database and Redis this backend shares. */
  beside?: { stores: TestStores };
}

/**
 * A backend that imports the service's modules. It has no route and no worker, so that nothing happens by
 * itself.
 */
export class MessagingHost {
  private readonly database: TestDatabase;

  private constructor(
    readonly app: INestApplicationContext,
    readonly stores: TestStores,
    private readonly ownsStores: boolean,
  ) {
    this.database = new TestDatabase(stores);
  }

  static async create({ beside, ...options }: HostOptions = {}): Promise<MessagingHost> {
    const stores = beside?.stores ?? (await createStores());
    const module = MessagingModule.forRoot({
      databaseUrl: stores.databaseUrl,
      redisUrl: stores.redisUrl,
      fileStoreDirectory: fileFolderOf(stores),
      secretsKeys: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      webhookAllowedNetworks: ['127.0.0.0/8'],
      webhookExtraCaFile: setting('TEST_CA_FILE'),
      databasePoolSize: 5,
      databasePrepared: setting('TEST_DATABASE_PREPARED') === 'on',
      ...options,
    });
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    const host = new MessagingHost(app, stores, !beside);
    return stopAtEnd(host, () => host.close());
  }

  get<T>(part: Type<T>): T {
    return this.app.get(part, { strict: false });
  }

  /** Factory of workspaces and their content. */
  get make(): Fixtures {
    return new Fixtures(this.app);
  }

  /** Reads the database, or puts it into a state that no service makes. */
  query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.database.query<Row>(sql, parameters);
  }

  /** Wakes an endpoint, as the worker does when a retry is due. */
  async wake({ id }: { id: string }): Promise<void> {
    const [target] = await this.query<Target>(
      'SELECT tenant_id AS "tenantId", id FROM webhook_endpoints WHERE id = $1',
      [id],
    );
    this.get(RedisSignals).send(TARGET_DUE, target!.tenantId, { queue: DELIVERY_QUEUE, target: target! });
  }

  async close(): Promise<void> {
    if (!forgetStop(this)) return;
    await this.app.close();
    await this.database.close();
    if (this.ownsStores) await dropStores(this.stores);
  }
}
