import { Injectable } from '@nestjs/common';
import { groupBy } from '../../common/group-by';
import { LOWEST_ID } from '../../common/ids';
import { Database, Reader } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { columnNamesOf, columnsOf, rowsToInsert } from '../../database/rows-to-insert';
import { Transaction } from '../../database/transaction';
import { isSuspended } from '../../workspaces/suspension';
import { AutomaticRecovery } from './automatic-recovery';

export type AutomaticKey = Pick<AutomaticRecovery, 'tenantId' | 'endpointId'>;

/** Delivery of a new event that was given up. */
export type Miss = AutomaticKey & Pick<AutomaticRecovery, 'since'>;

type Position = [tenantId: string, endpointId: string];
export const BEFORE_ALL_AUTOMATIC: Position = [LOWEST_ID, LOWEST_ID];

const STEP_ROWS = 1_000;
const BY_KEY = 'tenant_id = $1 AND endpoint_id = $2';
const SELECT = `SELECT tenant_id AS "tenantId", endpoint_id AS "endpointId", state, since, misses,
  misses_seen AS "missesSeen", rounds, probes, probing_since AS "probingSince", recovery_id AS "recoveryId", cursor,
  stop_reason AS "stopReason", due_at AS "dueAt" FROM automatic_recoveries`;

/**
 * Stores the state of each endpoint that is recovered automatically. Whoever locks an endpoint and its state
 * locks the endpoint first.
 */
@Injectable()
export class AutomaticRecoveriesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Notes that deliveries were given up. It waits while a worker changes the endpoint's state, so that the
   * worker does not call an endpoint healthy that has just missed an event.
   */
  notePipelined(tx: Transaction, misses: Miss[]): void {
    const oldest = [...groupBy(misses, ({ endpointId }) => endpointId).values()].map((ofEndpoint) =>
      ofEndpoint.reduce((first, miss) => (miss.since < first.since ? miss : first)),
    );
    // In the order of their keys, so that two processes can't deadlock.
    oldest.sort((a, b) => (a.tenantId + a.endpointId < b.tenantId + b.endpointId ? -1 : 1));
    const columns = [
      ...columnsOf(oldest, {
        tenant_id: ['uuid', ({ tenantId }) => tenantId],
        endpoint_id: ['uuid', ({ endpointId }) => endpointId],
        state: ['text', () => 'MISSING'],
        since: ['timestamptz', ({ since }) => since],
        misses: ['integer', () => 1],
      }),
      { name: 'due_at', sql: 'now()' },
      { name: 'created_at', sql: 'now()' },
    ];
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(
        `INSERT INTO automatic_recoveries AS r (${columnNamesOf(columns)}) ${rows}
         ON CONFLICT (tenant_id, endpoint_id) DO UPDATE SET since = least(r.since, excluded.since),
           misses = r.misses + 1`,
        parameters,
      );
  }

  /**
   * Finds endpoints with a due step, or that answered a delivery while they are probed. One call looks at
   * 1,000 endpoints at most. It leaves out suspended workspaces.
   */
  async findDue(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ items: AutomaticKey[]; next: Position | null }> {
    const rows = await server.search<AutomaticKey & { isDue: boolean }>(
      `SELECT r.tenant_id AS "tenantId", r.endpoint_id AS "endpointId", NOT ${isSuspended('r.tenant_id')}
         AND (r.due_at <= now() OR (r.state = 'PROBING' AND w.last_success_at > r.probing_since)) AS "isDue"
       FROM (
         SELECT tenant_id, endpoint_id, state, due_at, probing_since FROM automatic_recoveries
         WHERE (tenant_id, endpoint_id) > ($1, $2) AND due_at IS NOT NULL
         ORDER BY tenant_id, endpoint_id LIMIT ${STEP_ROWS}) r
       LEFT JOIN webhook_endpoints w ON w.tenant_id = r.tenant_id AND w.id = r.endpoint_id
       ORDER BY r.tenant_id, r.endpoint_id`,
      after,
      { order: ({ tenantId, endpointId }) => [tenantId, endpointId], limit: STEP_ROWS },
    );
    const last = rows.at(-1);
    return {
      items: rows.filter(({ isDue }) => isDue).map(({ tenantId, endpointId }) => ({ tenantId, endpointId })),
      next: rows.length < STEP_ROWS ? null : [last!.tenantId, last!.endpointId],
    };
  }

  async find(reader: Reader, tenantId: string, endpointId: string): Promise<AutomaticRecovery | null> {
    const [row] = await reader.query<AutomaticRecovery>(`${SELECT} WHERE ${BY_KEY}`, [tenantId, endpointId]);
    return row ?? null;
  }

  async lock(tx: Transaction, tenantId: string, endpointId: string): Promise<AutomaticRecovery | null> {
    const [row] = await tx.query<AutomaticRecovery>(`${SELECT} WHERE ${BY_KEY} FOR UPDATE`, [
      tenantId,
      endpointId,
    ]);
    return row ?? null;
  }

  async save(tx: Transaction, recovery: AutomaticRecovery): Promise<void> {
    const { tenantId, endpointId, state, missesSeen, rounds, probes, probingSince } = recovery;
    const { recoveryId, cursor, stopReason, dueAt } = recovery;
    await tx.query(
      `UPDATE automatic_recoveries SET state = $3, misses_seen = $4, rounds = $5, probes = $6, probing_since = $7,
         recovery_id = $8, cursor = $9, stop_reason = $10, due_at = $11
       WHERE ${BY_KEY}`,
      [
        ...[tenantId, endpointId, state, missesSeen, rounds, probes, probingSince, recoveryId, cursor],
        ...[stopReason, dueAt],
      ],
    );
  }

  /**
   * Makes the endpoint's state due after an activation, also if no probe had succeeded for five days. A state
   * that has stopped after three rounds is forgotten.
   */
  async resume(tx: Transaction, tenantId: string, endpointId: string): Promise<void> {
    await tx.query(`DELETE FROM automatic_recoveries WHERE ${BY_KEY} AND stop_reason = 'rounds'`, [
      tenantId,
      endpointId,
    ]);
    await tx.query(
      `UPDATE automatic_recoveries SET state = 'MISSING', recovery_id = NULL, stop_reason = NULL, due_at = now()
       WHERE ${BY_KEY}`,
      [tenantId, endpointId],
    );
  }

  async delete(tx: Transaction, tenantId: string, endpointId: string): Promise<void> {
    await tx.query(`DELETE FROM automatic_recoveries WHERE ${BY_KEY}`, [tenantId, endpointId]);
  }
}
