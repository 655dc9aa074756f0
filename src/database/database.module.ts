import { DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config';
import { DATA_SOURCE, Database } from './database';
import { connectionOptions } from './data-source';

@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      name: DATA_SOURCE,
      inject: [Config],
      useFactory: (config: Config) => ({
        ...connectionOptions(config),
        autoLoadEntities: true,
        retryAttempts: 3,
      }),
    }),
  ],
  providers: [Database],
  exports: [Database],
})
export class DatabaseModule {
  /** Adds a feature's entities to this service's data source. */
  static forEntities(entities: (new () => object)[]): DynamicModule {
    return TypeOrmModule.forFeature(entities, DATA_SOURCE);
  }
}
