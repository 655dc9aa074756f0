import { Batcher } from '../../common/batcher';
import { newId } from '../../common/ids';
import { SealedSecret } from '../../common/secret-box';
import { Database } from '../../database/database';
import { ClaimedDelivery } from './claimed-delivery';
import { IS_DUE, LEASE } from './lease';

/** Endpoints of one statement: bounds its locks. */
const MAX_BATCH = 50;

/**
 * Each step finds its rows by the keys of the step before it, so no plan reads more rows than it claims. All endpoints
 * share one LIMIT, the largest count, because the planner knows it: for a limit of each endpoint's own it would assume a
 * tenth of all pending rows, and read whole tables. So an endpoint with a smaller count locks more rows than it claims,
 * for a moment. A concurrent claim skips those rows, and a later wake-up finds them.
 */
const CLAIM = `
  WITH due AS (
    SELECT d.tenant_id, d.id, d.was_leased,
           w.url, w.secret_key_id, w.secret_ciphertext, w.rate_limit, w.failing_since, w.last_success_at
    FROM unnest($1::uuid[], $2::integer[]) AS request (endpoint_id, count)
    JOIN webhook_endpoints w ON w.id = request.endpoint_id AND w.active,
    LATERAL (
      SELECT d.*, row_number() OVER () AS rank FROM (
        SELECT d.tenant_id, d.id, d.lease_until IS NOT NULL AS was_leased FROM webhook_deliveries d
        WHERE d.endpoint_id = request.endpoint_id AND ${IS_DUE}
        ORDER BY d.next_attempt_at, d.id LIMIT $3 FOR UPDATE SKIP LOCKED) d) d
    WHERE d.rank <= request.count
  ), claimed AS (
    UPDATE webhook_deliveries d SET lease_id = $4, lease_until = now() + ${LEASE}
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.endpoint_id, d.event_id, d.attempt_count, d.max_attempts, d.event_type, due.*
  )
  SELECT c.*, e.data::text AS data, e.sequence, e.created_at AS event_created_at
  FROM claimed c JOIN events e ON e.tenant_id = c.tenant_id AND e.id = c.event_id`;

interface ClaimRequest {
  endpointId: string;
  count: number;
}

interface Claimed {
  delivery: ClaimedDelivery;
  /** An earlier lease has expired without an outcome. */
  wasLeased: boolean;
}

/** Claims deliveries, for many endpoints with one statement. */
export class ClaimBatcher {
  private readonly batcher = new Batcher<ClaimRequest, Claimed[]>(MAX_BATCH, (requests) =>
    this.claimAll(requests),
  );

  constructor(private readonly database: Database) {}

  claim(endpointId: string, count: number): Promise<Claimed[]> {
    return this.batcher.add({ endpointId, count });
  }

  private async claimAll(requests: ClaimRequest[]): Promise<Claimed[][]> {
    const counts = new Map<string, number>();
    for (const { endpointId, count } of requests)
      counts.set(endpointId, (counts.get(endpointId) ?? 0) + count);
    const claimed = await this.claimCounts(counts);
    // Two requests for one endpoint share its rows.
    return requests.map(({ endpointId, count }) => claimed.get(endpointId)?.splice(0, count) ?? []);
  }

  private async claimCounts(counts: Map<string, number>): Promise<Map<string, Claimed[]>> {
    const leaseId = newId();
    const rows = await this.database.query<ClaimRow>(CLAIM, [
      [...counts.keys()],
      [...counts.values()],
      Math.max(...counts.values()),
      leaseId,
    ]);
    return byEndpoint(rows, leaseId);
  }
}

interface ClaimRow {
  tenant_id: string;
  id: string;
  endpoint_id: string;
  attempt_count: number;
  max_attempts: number;
  event_type: string;
  data: string;
  sequence: string | null;
  url: string;
  secret_key_id: string;
  secret_ciphertext: Buffer;
  rate_limit: number | null;
  failing_since: Date | null;
  last_success_at: Date | null;
  event_created_at: Date;
  was_leased: boolean;
}

/** Deliveries of one endpoint share one secret object, so it is decrypted once for all of them. */
function byEndpoint(rows: ClaimRow[], leaseId: string): Map<string, Claimed[]> {
  const groups = new Map<string, Claimed[]>();
  for (const row of rows) {
    const group = groups.get(row.endpoint_id);
    const [first] = group ?? [];
    const secret = first?.delivery.secret ?? { keyId: row.secret_key_id, ciphertext: row.secret_ciphertext };
    const claimed = { delivery: toClaimed(row, leaseId, secret), wasLeased: row.was_leased };
    if (group) group.push(claimed);
    else groups.set(row.endpoint_id, [claimed]);
  }
  return groups;
}

function toClaimed(row: ClaimRow, leaseId: string, secret: SealedSecret): ClaimedDelivery {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    endpointId: row.endpoint_id,
    leaseId,
    attemptCount: row.attempt_count,
    maxAttempts: row.max_attempts,
    eventType: row.event_type,
    eventCreatedAt: row.event_created_at,
    data: row.data,
    sequence: row.sequence,
    url: row.url,
    secret,
    rateLimit: row.rate_limit,
    failingSince: row.failing_since,
    lastSuccessAt: row.last_success_at,
  };
}
