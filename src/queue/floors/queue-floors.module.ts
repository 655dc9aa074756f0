import { Module } from '@nestjs/common';
import { TableRegistry } from '../../database/tables/table-registry';
import { FloorKeeper } from './floor-keeper';
import { QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

/** Holds the floors of the queues in this process. Only workers claim, so only they have any. */
@Module({ providers: [QueueFloors], exports: [QueueFloors] })
export class QueueFloorsModule {
  constructor(tables: TableRegistry) {
    tables.register({
      name: 'queue_floors',
      key: { tenant_id: 'uuid', queue: 'text', part: 'text' },
      placement: 'workspace',
      deletion: { after: ['event_queue', 'pending_deliveries', 'outbound_messages'] },
      erasure: { none: 'It names no contact.' },
      export: { none: 'It tells when work was done, and nothing of a contact.' },
      retention: { age: 'saved_at', keptHours: 'history' },
    });
  }
}

/** Stores the floors, in workers. */
@Module({ imports: [QueueFloorsModule], providers: [QueueFloorsRepository, FloorKeeper] })
export class QueueFloorsWorkerModule {}
