import { Batcher } from '../../common/batcher';
import { newId } from '../../common/ids';
import { SealedSecret } from '../../common/secret-box';
import { Database } from '../../database/database';
import { ClaimedDelivery } from './claimed-delivery';
import { IS_DUE, LEASE } from './lease';

/** Endpoints that are claimed for with one statement, and so the locks that it takes at once are bounded. */
const MAX_BATCH = 50;

/**
 * Each part finds its rows by the key of the one before it, so that no plan reads more than it claims. That is planned
 * anew each time, for the tables as they are, and with one limit for all endpoints that the planner knows: by one of
 * each endpoint's own it would reckon with a tenth of all that is pending, and read whole tables. So more may be locked for a moment than is
 * claimed, and another process that comes just then takes it for taken; whoever has more than room for asks for help.
 */
const CLAIM = `
  WITH due AS (
    SELECT d.tenant_id, d.id, d.was_leased,
           w.url, w.secret_key_id, w.secret_ciphertext, w.rate_limit, w.failing_since, w.last_success_at
    FROM unnest($1::uuid[], $2::integer[]) AS wanted (endpoint_id, count)
    JOIN webhook_endpoints w ON w.id = wanted.endpoint_id AND w.active,
    LATERAL (
      SELECT d.*, row_number() OVER () AS place FROM (
        SELECT d.tenant_id, d.id, d.lease_until IS NOT NULL AS was_leased FROM webhook_deliveries d
        WHERE d.endpoint_id = wanted.endpoint_id AND ${IS_DUE}
        ORDER BY d.next_attempt_at, d.id LIMIT $3 FOR UPDATE SKIP LOCKED) d) d
    WHERE d.place <= wanted.count
  ), claimed AS (
    UPDATE webhook_deliveries d SET lease_id = $4, lease_until = now() + ${LEASE}
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.endpoint_id, d.event_id, d.attempt_count, d.max_attempts, d.event_type, due.*
  )
  SELECT c.*, e.data::text AS data, e.sequence, e.created_at AS event_created_at
  FROM claimed c JOIN events e ON e.tenant_id = c.tenant_id AND e.id = c.event_id`;

interface Wanted {
  endpointId: string;
  count: number;
}

/** A delivery as it was claimed; it was leased before when its claimer had let the lease run out. */
interface Claimed {
  delivery: ClaimedDelivery;
  wasLeased: boolean;
}

/** Claims deliveries, for many endpoints with one statement when many have their turn. */
export class ClaimBatcher {
  private readonly wanted = new Batcher<Wanted, Claimed[]>(MAX_BATCH, (wanted) => this.claimAll(wanted));

  constructor(private readonly database: Database) {}

  /** Up to `count` due deliveries of an active endpoint under a new lease, the longest due first. */
  claim(endpointId: string, count: number): Promise<Claimed[]> {
    return this.wanted.add({ endpointId, count });
  }

  private async claimAll(wanted: Wanted[]): Promise<Claimed[][]> {
    const counts = new Map<string, number>();
    for (const { endpointId, count } of wanted) counts.set(endpointId, (counts.get(endpointId) ?? 0) + count);
    const claimed = await this.claimOf(counts);
    // Two turns of one endpoint, asked for in the same moment, share what there is.
    return wanted.map(({ endpointId, count }) => claimed.get(endpointId)?.splice(0, count) ?? []);
  }

  private async claimOf(counts: Map<string, number>): Promise<Map<string, Claimed[]>> {
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

/** Deliveries of one endpoint share its secret, which is so decrypted once for all of them. */
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
