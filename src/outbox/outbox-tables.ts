import { TableDeclaration } from '../database/tables/table-declaration';
import { EventsRepository } from './events.repository';
import { ParkedEventsRepository } from './parked-events.repository';

const NEEDS_ITS_EVENT = 't.event_id >= day.first AND t.event_id < day.next';
const NO_COPY = {
  none: 'It tells what a message, a conversation or a contact does, or did within RETENTION_DAYS.',
};

export function outboxTables(events: EventsRepository, parked: ParkedEventsRepository): TableDeclaration[] {
  return [
    {
      name: 'events',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: { eraseCopies: (tx, messages) => events.erase(tx, messages) },
      export: NO_COPY,
      retention: { none: 'Its partitions are dropped by the day.' },
    },
    {
      name: 'event_queue',
      key: { tenant_id: 'uuid', event_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['events'] },
      erasure: { none: 'It names an event, and says nothing of it.' },
      export: NO_COPY,
      retention: { none: 'A row goes when every consumer has taken its event in.' },
      history: { needsDay: NEEDS_ITS_EVENT },
    },
    {
      name: 'parked_events',
      key: { tenant_id: 'uuid', event_id: 'uuid', consumer: 'text' },
      placement: 'workspace',
      deletion: { before: ['events'], after: ['event_queue'] },
      erasure: { eraseCopies: (tx, messages) => parked.erase(tx, messages) },
      export: NO_COPY,
      retention: { none: 'A row stays until an operator has its event retried or given up.' },
      history: { needsDay: NEEDS_ITS_EVENT },
    },
  ];
}
