import { Module } from '@nestjs/common';
import { TableRegistry } from '../../database/tables/table-registry';
import { FloorKeeper } from './floor-keeper';
import { QUEUE_FLOOR_TABLES } from './queue-floor-tables';
import { QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

/** Holds the floors of the queues in this process. Only workers claim, so only they have any. */
@Module({ providers: [QueueFloors], exports: [QueueFloors] })
export class QueueFloorsModule {
  constructor(tables: TableRegistry) {
    tables.register(...QUEUE_FLOOR_TABLES);
  }
}

/** Stores the floors, in workers. */
@Module({ imports: [QueueFloorsModule], providers: [QueueFloorsRepository, FloorKeeper] })
export class QueueFloorsWorkerModule {}
