import { AddressInfo } from 'node:net';
import { NestExpressApplication } from '@nestjs/platform-express';
import { createLogger } from '../../src/common/logger';
import { Config } from '../../src/config/config';
import { Role } from '../../src/config/settings';
import { createApp } from '../../src/app/create-app';
import { JsonDatabaseClient } from '../../src/database/driver/database-client';
import { ApiClient } from './api-client';
import { Cluster } from './cluster';
import { ContractValidator } from './contract-validator';
import { Fixtures } from './fixtures';
import { environmentOf } from './service-process';
import { createStores, dropStores, TestDatabase, TestStores } from './test-database';
import { listenOrClose } from './listen-or-close';
import { forgetStop, stopAtEnd } from './stop-at-end';

/**
 * True under `npm run test:cluster`: other processes take the requests and make the deliveries, and this
 * process only looks on.
 */
const isClustered = process.env['TEST_CLUSTER'] === 'true';

export interface ServiceOptions {
  role?: Role;
  /** Variables on top of the tests' own environment. */
  env?: Record<string, string>;
  /** Service whose database and Redis this process shares. */
  beside?: { stores: TestStores };
}

/** The service in this process, configured as its own process is, on a free port, with stores of its own. */
export class TestService {
  private readonly database: TestDatabase;

  private constructor(
    readonly app: NestExpressApplication,
    readonly stores: TestStores,
    readonly baseUrl: string,
    /** Client without a key. Its answers are checked against the OpenAPI document. */
    readonly client: ApiClient,
    private readonly cluster: Cluster | null,
    private readonly ownsStores: boolean,
  ) {
    this.database = new TestDatabase(stores, JsonDatabaseClient);
  }

  static async create({ role = 'api', env = {}, beside }: ServiceOptions = {}): Promise<TestService> {
    const stores = beside?.stores ?? (await createStores());
    const cluster =
      isClustered && !beside && role !== 'worker'
        ? await Cluster.start(stores, { DATABASE_POOL_SIZE: '10', ...env })
        : null;
    const ownRole = cluster ? 'api' : role;
    const config = Config.from({
      ...environment(stores, ownRole),
      ROLE: ownRole,
      ...env,
    });
    const app = await createApp(config, createLogger(config.http.logLevel));
    await listenOrClose(app, config.http);
    const { port } = app.getHttpServer().address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}`;
    const validator = role === 'worker' ? null : await ContractValidator.create(baseUrl);
    const client = new ApiClient(cluster?.apiUrls ?? [baseUrl], validator);
    const service = new TestService(app, stores, baseUrl, client, cluster, !beside);
    return stopAtEnd(service, () => service.close());
  }

  /** Factory of workspaces and their content, made by the service itself. */
  get make(): Fixtures {
    return new Fixtures(this.app);
  }

  /** Reads the database, or puts it into a state that no service makes. */
  query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.database.query<Row>(sql, parameters);
  }

  async close(): Promise<void> {
    if (!forgetStop(this)) return;
    this.client.close();
    await this.cluster?.stop();
    // Clients may connect again until the server has closed.
    const closing = setInterval(() => this.app.getHttpServer().closeAllConnections(), 50);
    await this.app.close();
    clearInterval(closing);
    await this.database.close();
    if (this.ownsStores) await dropStores(this.stores);
  }
}

function environment(stores: TestStores, role: Role): Record<string, string> {
  return {
    ...environmentOf(stores, role),
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_POOL_SIZE: '10',
    LOG_LEVEL: 'silent',
  };
}
