import { EventType } from '../../src/outbox/event-catalog';
import { TestService } from './service';

/** Returns the data of a workspace's events of one type, in the order in which they were made. */
export async function eventsOf(
  service: TestService,
  { id }: { id: string },
  type: EventType,
): Promise<Record<string, any>[]> {
  const rows = await service.query<{ data: Record<string, any> }>(
    'SELECT data FROM events WHERE tenant_id = $1 AND type = $2 ORDER BY id',
    [id, type],
  );
  return rows.map(({ data }) => data);
}
