import { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule } from '../../src/messaging.module';
import { createStores, dropStores, setting, TestStores } from './test-database';

/** The service's parts inside a backend that imports them: no route, no worker, so that nothing happens by itself. */
export class Dashboard {
  private constructor(
    readonly app: INestApplicationContext,
    readonly stores: TestStores,
  ) {}

  static async create(): Promise<Dashboard> {
    const stores = await createStores();
    const module = MessagingModule.forRoot({
      databaseUrl: stores.databaseUrl,
      redisUrl: stores.redisUrl,
      secretsKeys: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      webhookAllowedNetworks: ['127.0.0.0/8'],
      webhookExtraCaFile: setting('TEST_CA_FILE'),
    });
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    return new Dashboard(app, stores);
  }

  async close(): Promise<void> {
    await this.app.close();
    await dropStores(this.stores);
  }
}
