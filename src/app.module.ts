import { DynamicModule, Module } from '@nestjs/common';
import { ApiModule } from './api.module';
import { Config } from './config/config';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { HealthModule } from './health/health.module';
import { MetricsModule, MetricsServerModule } from './metrics/metrics.module';
import { RedisModule } from './redis/redis.module';
import { WorkerModule } from './worker.module';

/** One process: the API, the worker, or both, as its role says. */
@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    const { role } = config;
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule,
        RedisModule,
        MetricsModule,
        MetricsServerModule,
        HealthModule,
        ...(role === 'worker' ? [] : [ApiModule]),
        ...(role === 'api' ? [] : [WorkerModule]),
      ],
    };
  }
}
