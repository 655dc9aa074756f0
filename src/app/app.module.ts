import { DynamicModule, Module } from '@nestjs/common';
import { Config } from '../config/config';
import { ConfigModule } from '../config/config.module';
import { JsonDatabaseClient } from '../database/driver/database-client';
import { DatabaseModule } from '../database/setup/database.module';
import { HealthApiModule } from '../operations/health/health.module';
import { HttpModule } from '../http/http.module';
import { MetricsModule } from '../metrics/metrics.module';
import { MetricsServerModule } from '../operations/metrics/metrics-server.module';
import { RedisModule } from '../redis/redis.module';
import { ROUTES } from './routes';
import { StoredDataModule } from '../database/tables/stored-data.module';
import { WorkerModule } from './worker.module';

/** Root module of a process: the API, a worker, or both, by the setting ROLE. */
@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    const { role } = config;
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(JsonDatabaseClient),
        RedisModule,
        MetricsModule,
        StoredDataModule,
        MetricsServerModule,
        HealthApiModule,
        HttpModule,
        ...(role === 'worker' ? [] : ROUTES),
        ...(role === 'api' ? [] : [WorkerModule]),
      ],
    };
  }
}
