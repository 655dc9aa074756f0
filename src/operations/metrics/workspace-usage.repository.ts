import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { Database } from '../../database/database';

/** Names of the quotas. A workspace may exceed them: the service refuses nothing, and only reports it. */
export const QUOTAS = ['contacts', 'messages', 'bytes'] as const;
export type Quota = (typeof QUOTAS)[number];

/** Amounts that a workspace has stored, as estimated by PostgreSQL's statistics. */
export interface WorkspaceUsage extends Record<Quota, number> {
  workspaceId: string;
  over: Quota[];
}

/**
 * SQL that reads the estimates of one server from PostgreSQL's statistics, without a table read or lock. A
 * table's statistics name up to 100 workspaces with the most rows, each with its share of the rows. The bytes
 * of a workspace are estimated by the same share. On a node of Citus, a table's name ends with the number of
 * its shard. The history is left out, because its partitions are dropped by the day.
 */
const USAGE = `
  WITH tables AS MATERIALIZED (
    SELECT c.relname, c.reltuples, s.most_common_vals, s.most_common_freqs,
           current_setting('block_size')::bigint *
             (SELECT sum(part.relpages) FROM pg_class part
              WHERE part.oid IN (c.oid, c.reltoastrelid)
                 OR part.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN (c.oid, c.reltoastrelid))) AS bytes
    FROM pg_stats s
    JOIN pg_class c ON c.relname = s.tablename AND c.relnamespace = s.schemaname::regnamespace
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
      AND c.relkind = 'r' AND NOT c.relispartition AND c.reltuples > 0
      AND s.attname = 'tenant_id' AND s.most_common_vals IS NOT NULL)
  SELECT share.tenant_id AS "workspaceId",
         sum(CASE WHEN relname ~ '^contacts(_[0-9]+)?$' THEN share.frequency * reltuples ELSE 0 END) AS contacts,
         sum(CASE WHEN relname ~ '^messages(_[0-9]+)?$' THEN share.frequency * reltuples ELSE 0 END) AS messages,
         sum(share.frequency * bytes)::float8 AS bytes
  FROM tables, unnest(most_common_vals::text::uuid[], most_common_freqs) AS share (tenant_id, frequency)
  GROUP BY share.tenant_id`;

@Injectable()
export class WorkspaceUsageRepository {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** Lists the workspaces that the statistics name: first by the number of exceeded quotas, then by bytes. */
  async list(): Promise<WorkspaceUsage[]> {
    const found = new Map<string, WorkspaceUsage>();
    for (const { workspaceId, ...row } of await this.database.placement.readViews<WorkspaceUsage>(USAGE)) {
      const usage = found.get(workspaceId) ?? { workspaceId, contacts: 0, messages: 0, bytes: 0, over: [] };
      for (const quota of QUOTAS) usage[quota] += Math.round(row[quota]);
      found.set(workspaceId, usage);
    }
    const usages = [...found.values()];
    for (const usage of usages)
      usage.over = QUOTAS.filter((quota) => usage[quota] > this.config.workspaceQuotas[quota]);
    return usages.sort((a, b) => b.over.length - a.over.length || b.bytes - a.bytes);
  }
}
