import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { Database } from '../database/database';
import { Day, lowestId, startOf } from '../database/partitions';

/** Workspaces of one step. */
const STEP = 1_000;

/** Unfinished work that needs the events of a day. */
export interface PartitionReference {
  tenantId: string;
  table: string;
}

/** What refers to the events of a day, and so keeps its partitions. */
@Injectable()
export class PartitionReferences {
  constructor(private readonly database: Database) {}

  /** @returns the first reference to the day's events or deliveries; null when there is none */
  async find(day: Day): Promise<PartitionReference | null> {
    for (let after = LOWEST_ID; ;) {
      const workspaces = await this.step(day, after);
      const found = workspaces.find(({ table }) => table !== null);
      if (found) return found as PartitionReference;
      if (workspaces.length < STEP) return null;
      after = workspaces.at(-1)!.tenantId;
    }
  }

  /** A few index look-ups for each workspace, however much is owed. */
  private step(day: Day, after: string): Promise<{ tenantId: string; table: string | null }[]> {
    return this.database.queueTransaction((tx) =>
      tx.query(
        `SELECT w.id AS "tenantId", reference.name AS "table"
         FROM (SELECT id FROM workspaces WHERE id > $1 ORDER BY id LIMIT ${STEP}) AS w
         LEFT JOIN LATERAL (
           (SELECT 'event_queue' AS name FROM event_queue q
            WHERE q.tenant_id = w.id AND q.event_id >= $2 AND q.event_id < $3 LIMIT 1)
           UNION ALL
           (SELECT 'pending_deliveries' FROM pending_deliveries p
            WHERE p.tenant_id = w.id AND p.id >= $2 AND p.id < $3 LIMIT 1)
           UNION ALL
           (SELECT 'parked_events' FROM parked_events e
            WHERE e.tenant_id = w.id AND e.event_id >= $2 AND e.event_id < $3 LIMIT 1)
           UNION ALL
           (SELECT 'webhook_recoveries' FROM webhook_recoveries r
            WHERE r.tenant_id = w.id AND r.status = 'RUNNING' AND r.cursor < $3 AND r.until >= $4 LIMIT 1)
           LIMIT 1) AS reference ON true
         ORDER BY w.id`,
        [after, lowestId(day), lowestId(day + 1), startOf(day)],
      ),
    );
  }
}
