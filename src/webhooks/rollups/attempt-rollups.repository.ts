import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { listsOf, workspaceOf } from '../../database/key-list';
import { AttemptCounts } from './attempt-counts';

export const ROLLUP_MS = 5 * 60 * 1000;

/** Counts of the attempts to an endpoint in five minutes, and of the deliveries that these attempts ended. */
export interface AttemptRollup extends AttemptCounts {
  tenantId: string;
  endpointId: string;
  startsAt: Date;
  /** Number of deliveries that succeeded after a failed attempt or by a redelivery. */
  late: number;
  /** Number of times that a delivery was given up after its last attempt. */
  exhausted: number;
}

/** Counts of an endpoint's deliveries that ended in a period. The end of a redelivery is counted as well. */
export interface DeliveryTotals {
  endpointId: string;
  succeeded: number;
  /** Number of deliveries that succeeded after a failed attempt or by a redelivery. */
  late: number;
  /** Number of times that a delivery was given up. A redelivery may have succeeded afterwards. */
  exhausted: number;
}

/**
 * Returns the SQL condition of an endpoint's rollups since $3. The key is compared as one row, because
 * PostgreSQL would otherwise use another index, and read rollups of other endpoints.
 */
const ofEndpoint = (id: string) => `tenant_id = $1 AND endpoint_id = ${id}
  AND (tenant_id, endpoint_id, starts_at) >= ($1, ${id}, $3)`;

const sumOf = (column: string) =>
  `ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0) FROM unnest(r.${column}, excluded.${column})
         WITH ORDINALITY AS u (a, b, n) ORDER BY n)`;

/** Stores counts of attempts in periods of five minutes, for charts. They are deleted after eight days. */
@Injectable()
export class AttemptRollupsRepository {
  constructor(private readonly database: Database) {}

  /** Adds counts to the stored rollups, in the order of their keys, so that two processes can't deadlock. */
  async addRollups(rollups: AttemptRollup[]): Promise<void> {
    await this.database.prepared(
      `INSERT INTO attempt_rollups AS r (tenant_id, endpoint_id, starts_at, outcomes, durations, late, exhausted)
       SELECT t.id, endpoint_id, starts_at, outcomes::integer[], durations::integer[], late, exhausted
       FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[], $7::integer[])
         AS n (tenant_id, endpoint_id, starts_at, outcomes, durations, late, exhausted)
       JOIN workspaces t ON t.id = ${workspaceOf('n', '$1', this.database)} ORDER BY 1, 2, 3
       ON CONFLICT (tenant_id, endpoint_id, starts_at) DO UPDATE
       SET outcomes = ${sumOf('outcomes')}, durations = ${sumOf('durations')},
           late = r.late + excluded.late, exhausted = r.exhausted + excluded.exhausted`,
      [
        ...listsOf(rollups, 'tenantId', 'endpointId', 'startsAt'),
        rollups.map(({ outcomes }) => `{${outcomes.join()}}`),
        rollups.map(({ durations }) => `{${durations.join()}}`),
        ...listsOf(rollups, 'late', 'exhausted'),
      ],
    );
  }

  list(tenantId: string, endpointId: string, since: Date): Promise<AttemptRollup[]> {
    return this.database.query(
      `SELECT tenant_id AS "tenantId", endpoint_id AS "endpointId", starts_at AS "startsAt", outcomes, durations,
              late, exhausted
       FROM attempt_rollups WHERE ${ofEndpoint('$2')} ORDER BY starts_at`,
      [tenantId, endpointId, since],
    );
  }

  /** Counts the deliveries that ended since a time, for each endpoint. The endpoints are in any order. */
  sumDeliveries(tenantId: string, endpointIds: string[], since: Date): Promise<DeliveryTotals[]> {
    return this.database.query(
      `SELECT e.id AS "endpointId", total.*
       FROM unnest($2::uuid[]) AS e (id), LATERAL (
         SELECT coalesce(sum(outcomes[1]), 0)::integer AS succeeded, coalesce(sum(late), 0)::integer AS late,
                coalesce(sum(exhausted), 0)::integer AS exhausted
         FROM attempt_rollups WHERE ${ofEndpoint('e.id')}) AS total`,
      [tenantId, endpointIds, since],
    );
  }
}
