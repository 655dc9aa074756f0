import { Injectable } from '@nestjs/common';
import { idFloor, idTime } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { QueueFloors } from '../queue/floors/queue-floors';
import { subQueueOf } from './event-queue.repository';

const STEP_WORKSPACES = 1_000;

const LIST_WORKSPACES = `SELECT id, now() AS now FROM workspaces WHERE id > $1 ORDER BY id LIMIT ${STEP_WORKSPACES}`;
/** SQL that lists the workspaces with queued events by one index look-up for each workspace. */
const LIST_QUEUED_WORKSPACES = `
  WITH RECURSIVE queued AS (
    (SELECT tenant_id, 1 AS n FROM event_queue WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, n + 1 FROM queued, LATERAL (
      SELECT tenant_id FROM event_queue WHERE tenant_id > queued.tenant_id ORDER BY tenant_id LIMIT 1) next
    WHERE n < ${STEP_WORKSPACES}
  )
  SELECT tenant_id AS id, now() AS now FROM queued ORDER BY n`;

@Injectable()
export class QueuedWorkspacesRepository {
  constructor(private readonly floors: QueueFloors) {}

  /**
   * Finds workspaces of a server that have queued events without a valid lease, among up to 1,000 workspaces
   * with ids above `after`. Also stores each workspace's floor: the time of its first queued event, from
   * which claims read the queue.
   * @returns the workspaces; `next` is the `after` of the next call, or null after the last workspace
   */
  async findWorkspaces(
    after: string,
    server: WorkspaceServer,
  ): Promise<{ tenantIds: string[]; next: string | null }> {
    const list = this.floors.areUsed ? LIST_WORKSPACES : LIST_QUEUED_WORKSPACES;
    const workspaces = await server.search<{ id: string; now: Date }>(list, [after], {
      order: ({ id }) => [id],
      limit: STEP_WORKSPACES,
      times: ['now'],
    });
    const ids = workspaces.map(({ id }) => id);
    const queued = await this.findFirst(ids, server);
    // `now` was read before the queue, so an event that is queued later is not older than this floor.
    for (const { id, now } of workspaces) {
      const first = queued.get(id);
      this.floors.update(subQueueOf(id), first ? idTime(first.eventId) : now);
    }
    const tenantIds = ids.filter((id) => queued.get(id)?.hasFree);
    return { tenantIds, next: ids.length === STEP_WORKSPACES ? ids.at(-1)! : null };
  }

  private async findFirst(
    tenantIds: string[],
    server: WorkspaceServer,
  ): Promise<Map<string, { eventId: string; hasFree: boolean }>> {
    if (tenantIds.length === 0) return new Map();
    const rows = await server.search<{ tenantId: string; eventId: string; hasFree: boolean }>(
      `SELECT w.tenant_id AS "tenantId", first.event_id AS "eventId",
                EXISTS (SELECT FROM event_queue q WHERE q.tenant_id = w.tenant_id AND q.event_id >= first.event_id
                          AND (q.lease_until IS NULL OR q.lease_until < now())) AS "hasFree"
         FROM unnest($1::uuid[], $2::uuid[]) AS w (tenant_id, first_id), LATERAL (
           SELECT event_id FROM event_queue WHERE tenant_id = w.tenant_id AND event_id >= w.first_id
           ORDER BY event_id LIMIT 1) first`,
      [tenantIds, tenantIds.map((id) => idFloor(this.floors.startOfSearch(subQueueOf(id))))],
      { order: ({ tenantId }) => [tenantId], lists: 2 },
    );
    return new Map(rows.map(({ tenantId, ...first }) => [tenantId, first]));
  }
}
