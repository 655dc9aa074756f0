import { Module } from '@nestjs/common';
import { TableRegistry } from '../../database/tables/table-registry';
import { FloorKeeper } from './floor-keeper';
import { QUEUE_FLOOR_TABLES } from './queue-floor-tables';
import { QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

/** Provides the floors of queues. Workers skip rows due before a floor, because only dead rows are there. */
@Module({ providers: [QueueFloors], exports: [QueueFloors] })
export class QueueFloorsModule {
  constructor(tables: TableRegistry) {
    tables.register(...QUEUE_FLOOR_TABLES);
  }
}

@Module({ imports: [QueueFloorsModule], providers: [QueueFloorsRepository, FloorKeeper] })
export class QueueFloorsWorkerModule {}
