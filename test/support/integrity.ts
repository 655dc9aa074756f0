type Query = <Row = Record<string, unknown>>(sql: string, parameters?: unknown[]) => Promise<Row[]>;

/** Time beyond that of a poll in which another worker must take over an ended lease. */
const GONE_ON_WITHIN = `interval '5 seconds'`;
/** Number of rows that are shown of one kind of fault. */
const SHOWN = 5;

const withoutWorkspace = (table: string, id: string) => `
  SELECT ${id} AS what FROM ${table} t
  WHERE NOT EXISTS (SELECT FROM workspaces w WHERE w.id = t.tenant_id)`;

const withoutEvent = (table: string) => `
  SELECT event_id AS what FROM ${table} t
  WHERE NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = t.tenant_id AND e.id = t.event_id)`;

const withoutEndpoint = (table: string) => `
  SELECT endpoint_id AS what FROM ${table} t
  WHERE NOT EXISTS (SELECT FROM webhook_endpoints w WHERE w.tenant_id = t.tenant_id AND w.id = t.endpoint_id)`;

const inDefaultPartition = (table: string) =>
  `SELECT concat(count(*), ' rows') AS what FROM ${table}_default HAVING count(*) > 0`;

/** Queries that must find nothing, by the name of the fault that they find. */
const SEARCHES: Record<string, string> = {
  'round that is both finished and pending': `
    SELECT d.id AS what FROM webhook_deliveries d
    JOIN pending_deliveries p ON p.tenant_id = d.tenant_id AND p.id = d.id AND p.round <= d.round`,
  'event without its workspace': withoutWorkspace('events', 'id'),
  'queued event that does not exist': withoutEvent('event_queue'),
  'parked event that does not exist': withoutEvent('parked_events'),
  'pending delivery without its event': withoutEvent('pending_deliveries'),
  'pending delivery without its endpoint': withoutEndpoint('pending_deliveries'),
  'finished round without its event': withoutEvent('webhook_deliveries'),
  'finished round without its endpoint': withoutEndpoint('webhook_deliveries'),
  'attempt without its delivery': `
    SELECT delivery_id AS what FROM webhook_attempts a
    WHERE NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.tenant_id = a.tenant_id AND d.id = a.delivery_id)
      AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = a.tenant_id AND p.id = a.delivery_id)`,
  'finished round that misses attempts': `
    SELECT id AS what FROM webhook_deliveries d WHERE attempted_at IS NOT NULL AND attempt_count - 1 <> (
      SELECT count(*) FROM webhook_attempts a
      WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id AND a.round = d.round AND a.attempt < d.attempt_count)`,
  'pending delivery of a settled recovery': `
    SELECT p.id AS what FROM pending_deliveries p
    JOIN webhook_recoveries r ON r.tenant_id = p.tenant_id AND r.id = p.recovery_id WHERE r.is_settled`,
  'outcome that no recovery will count': `
    SELECT o.recovery_id AS what FROM recovery_outcomes o WHERE NOT EXISTS (
      SELECT FROM webhook_recoveries r WHERE r.tenant_id = o.tenant_id AND r.id = o.recovery_id AND NOT r.is_settled)`,
  'settled recovery that has not counted each of its deliveries': `
    SELECT id AS what FROM webhook_recoveries WHERE is_settled AND recovered <> succeeded + exhausted + cancelled`,
  'event whose lease has ended': `
    SELECT event_id AS what FROM event_queue WHERE lease_until < now() - ${GONE_ON_WITHIN}`,
  'row of events in the default partition': inDefaultPartition('events'),
  'row of webhook_deliveries in the default partition': inDefaultPartition('webhook_deliveries'),
  'row of webhook_attempts in the default partition': inDefaultPartition('webhook_attempts'),
};

/**
 * Searches all workspaces for rows of the engine that contradict each other. Call it when no work is in
 * progress.
 *
 * It makes the checks of foreign keys, which the tables lack because each insert would lock or look up a row
 * of its parent: events have their workspace, deliveries (pending and finished) their event and endpoint,
 * attempts their delivery. It also checks that a delivery is in one place, that no lease is forgotten and
 * that no partition is missing.
 * @returns the faults, some of each kind
 */
export async function contradictions(query: Query): Promise<string[]> {
  const found: string[] = [];
  for (const [name, search] of Object.entries(SEARCHES)) {
    const rows = await query<{ what: string }>(`${search} LIMIT ${SHOWN}`);
    found.push(...rows.map(({ what }) => `${name}: ${what}`));
  }
  return found;
}
