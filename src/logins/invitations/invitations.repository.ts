import { Injectable } from '@nestjs/common';
import { AgentRole } from '../../access/permissions';
import { isId, newId } from '../../common/ids';
import { Database, Reader } from '../../database/database';
import { AgentKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { InvitationKey } from '../people/login-tokens';
import { InvitationSummary } from './invitation.dto';

export interface OpenInvitation extends InvitationSummary {
  tenantId: string;
  workspaceName: string;
}

const LIFE = `interval '24 hours'`;

/**
 * SQL that selects the invitations of workspace $1 that can be accepted. The invited and the inviting agent
 * must be active, and must have got no other role since the invitation was made.
 */
const SELECT = `
  SELECT i.tenant_id AS "tenantId", i.id, i.agent_id AS "agentId", a.name AS "agentName", a.email, a.role,
         i.created_at AS "createdAt", i.expires_at AS "expiresAt", w.name AS "workspaceName"
  FROM invitations i JOIN agents a ON a.tenant_id = $1 AND a.id = i.agent_id JOIN workspaces w ON w.id = $1
  WHERE i.tenant_id = $1 AND i.expires_at > now() AND NOT EXISTS (
    SELECT FROM agents c WHERE c.tenant_id = $1 AND c.id IN (i.agent_id, i.made_by)
      AND (NOT c.active OR c.access_changed_at > i.created_at))`;

@Injectable()
export class InvitationsRepository {
  constructor(private readonly database: Database) {}

  async list(tenantId: string): Promise<OpenInvitation[]> {
    if (!isId(tenantId)) return [];
    return this.database.query<OpenInvitation>(`${SELECT} ORDER BY i.id`, [tenantId]);
  }

  async find(
    { tenantId, hash }: InvitationKey,
    reader: Reader = this.database,
  ): Promise<OpenInvitation | null> {
    const [row] = await reader.query<OpenInvitation>(`${SELECT} AND i.hash = $2`, [tenantId, hash]);
    return row ?? null;
  }

  /**
   * Locks the rows of the invited and the inviting agent, so that their access can't change before the
   * commit. Then locks the invitation's row. `replace` locks in the same order, to avoid deadlocks.
   */
  async lock(tx: Transaction, key: InvitationKey): Promise<OpenInvitation | null> {
    const { tenantId, hash } = key;
    const found = await this.find(key, tx);
    if (!found) return null;
    await tx.query(
      `SELECT FROM agents WHERE tenant_id = $1 AND id IN (
         SELECT unnest(ARRAY[agent_id, made_by]) FROM invitations WHERE tenant_id = $1 AND hash = $2)
       ORDER BY id FOR SHARE`,
      [tenantId, hash],
    );
    await tx.query('SELECT FROM invitations WHERE tenant_id = $1 AND hash = $2 FOR UPDATE', [tenantId, hash]);
    // Reads the invitation again, because it may have changed while this transaction waited for the locks.
    return this.find(key, tx);
  }

  /** Replaces an agent's invitation, if there is one, by a new one. Requires the lock on the agent's row. */
  async replace(
    tx: Transaction,
    { tenantId, hash }: InvitationKey,
    agentId: string,
    madeBy: string | null,
  ): Promise<OpenInvitation> {
    await this.deleteByAgent(tx, { tenantId, agentId });
    await tx.query(
      `INSERT INTO invitations (tenant_id, id, agent_id, hash, made_by, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + ${LIFE})`,
      [tenantId, newId(), agentId, hash, madeBy],
    );
    return (await this.find({ tenantId, hash }, tx))!;
  }

  async deleteByAgent(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('DELETE FROM invitations WHERE tenant_id = $1 AND agent_id = $2', [tenantId, agentId]);
  }

  async delete(
    tx: Transaction,
    tenantId: string,
    id: string,
  ): Promise<{ agentId: string; role: AgentRole } | null> {
    if (!isId(id)) return null;
    const [row] = await tx.query<{ agentId: string; role: AgentRole }>(
      `DELETE FROM invitations i USING agents a
       WHERE i.tenant_id = $1 AND i.id = $2 AND a.tenant_id = $1 AND a.id = i.agent_id
       RETURNING a.id AS "agentId", a.role`,
      [tenantId, id],
    );
    return row ?? null;
  }
}
