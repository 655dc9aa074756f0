import { DynamicModule, Global, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { DATA_SOURCE, Database } from '../database';
import { DatabaseClock } from '../database-clock';
import { DatabaseClient } from '../driver/database-client';
import { connectionOptions } from '../data-source';
import { OldestSnapshot } from '../oldest-snapshot';
import { OwnerDatabase } from '../owner-database';
import { PartitionChanges } from '../history/partition-changes';
import { Partitions } from '../history/partitions';

@Module({})
export class DatabaseModule {
  static forRoot(Client: typeof DatabaseClient = DatabaseClient): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          name: DATA_SOURCE,
          inject: [Config],
          useFactory: (config: Config) => ({
            ...connectionOptions(config, Client),
            retryAttempts: 3,
          }),
        }),
      ],
      providers: [
        {
          provide: Database,
          inject: [getDataSourceToken(DATA_SOURCE), Config],
          useFactory: (dataSource: DataSource, config: Config) => Database.forDataSource(dataSource, config),
        },
        DatabaseClock,
        OldestSnapshot,
        Partitions,
      ],
      exports: [Database, DatabaseClock, OldestSnapshot, Partitions],
    };
  }
}

/** Provides `OwnerDatabase`, whose role can drop every table. Only workers import this module. */
@Global()
@Module({ providers: [OwnerDatabase, PartitionChanges], exports: [OwnerDatabase, PartitionChanges] })
export class OwnerDatabaseModule {}
