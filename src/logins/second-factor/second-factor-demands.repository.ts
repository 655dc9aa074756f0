import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { LOCKED_AT, MembershipsRepository } from '../people/memberships.repository';
import { SecondFactorDemand } from './second-factor-demand.dto';

const COLUMNS = 'grace_days AS "graceDays", demanded_at AS "demandedAt"';

@Injectable()
export class SecondFactorDemandsRepository {
  constructor(private readonly memberships: MembershipsRepository) {}

  /** Finds a workspace's demand. Requires the lock on the workspace's row. */
  async find(tx: Transaction, tenantId: string): Promise<SecondFactorDemand | null> {
    const [demand] = await tx.query<SecondFactorDemand>(
      `SELECT ${COLUMNS} FROM second_factor_demands WHERE tenant_id = $1`,
      [tenantId],
    );
    return demand ?? null;
  }

  /** Adds a demand, or changes the days of grace of the workspace's present demand. */
  async save(tx: Transaction, tenantId: string, graceDays: number): Promise<SecondFactorDemand> {
    const [demand] = await tx.query<SecondFactorDemand>(
      `INSERT INTO second_factor_demands (tenant_id, grace_days, demanded_at) VALUES ($1, $2, now())
       ON CONFLICT (tenant_id) DO UPDATE SET grace_days = excluded.grace_days RETURNING ${COLUMNS}`,
      [tenantId, graceDays],
    );
    return demand!;
  }

  async delete(tx: Transaction, tenantId: string): Promise<void> {
    await tx.query('DELETE FROM second_factor_demands WHERE tenant_id = $1', [tenantId]);
  }

  /** Returns the name of a workspace that would now refuse the person without a second factor, or null. */
  async findLocking(tx: Transaction, personId: string): Promise<string | null> {
    const [workspace] = await tx.query<{ name: string }>(
      `SELECT w.name FROM memberships m
         JOIN second_factor_demands d ON d.tenant_id = m.tenant_id AND ${LOCKED_AT} <= now()
         JOIN agents a ON a.tenant_id = m.tenant_id AND a.id = m.agent_id AND a.active
         JOIN workspaces w ON w.id = m.tenant_id
       WHERE m.tenant_id = ANY ($1::uuid[]) AND m.person_id = $2 ORDER BY lower(w.name) LIMIT 1`,
      [await this.memberships.listWorkspaceIds(personId, tx), personId],
    );
    return workspace?.name ?? null;
  }
}
