import { Injectable } from '@nestjs/common';
import { isId, newId } from '../../common/ids';
import { Database, Reader } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { InvitationKey } from '../people/login-tokens';
import { InvitationSummary } from './invitation.dto';

/** Invitation that can still be accepted, and its workspace. */
export interface OpenInvitation extends InvitationSummary {
  tenantId: string;
  workspaceName: string;
}

const LIFE = `interval '24 hours'`;

/**
 * Selects the invitations of the workspace $1. An invitation of an inactive agent is left out: its link does
 * not work.
 */
const SELECT = `
  SELECT i.tenant_id AS "tenantId", i.id, i.agent_id AS "agentId", a.name AS "agentName", a.email, a.role,
         i.created_at AS "createdAt", i.expires_at AS "expiresAt", w.name AS "workspaceName"
  FROM invitations i JOIN agents a ON a.tenant_id = $1 AND a.id = i.agent_id AND a.active
    JOIN workspaces w ON w.id = $1`;

/** Stores the invitations of a workspace's agents to log in. */
@Injectable()
export class InvitationsRepository {
  constructor(private readonly database: Database) {}

  /** Lists the invitations that can still be accepted, oldest first. */
  async list(tenantId: string): Promise<OpenInvitation[]> {
    if (!isId(tenantId)) return [];
    return this.database.query<OpenInvitation>(
      `${SELECT} WHERE i.tenant_id = $1 AND i.expires_at > now() ORDER BY i.id`,
      [tenantId],
    );
  }

  async find(
    { tenantId, hash }: InvitationKey,
    reader: Reader = this.database,
  ): Promise<OpenInvitation | null> {
    const [row] = await reader.query<OpenInvitation>(
      `${SELECT} WHERE i.tenant_id = $1 AND i.hash = $2 AND i.expires_at > now()`,
      [tenantId, hash],
    );
    return row ?? null;
  }

  /**
   * Locks the agent, so that it can't be deactivated before the commit, and then the invitation: the order in
   * which `replace` locks them.
   */
  async lock(tx: Transaction, key: InvitationKey): Promise<OpenInvitation | null> {
    const { tenantId, hash } = key;
    const found = await this.find(key, tx);
    if (!found) return null;
    const { agentId } = found;
    await tx.query('SELECT FROM agents WHERE tenant_id = $1 AND id = $2 FOR SHARE', [tenantId, agentId]);
    await tx.query('SELECT FROM invitations WHERE tenant_id = $1 AND hash = $2 FOR UPDATE', [tenantId, hash]);
    // A second read, because it sees what was committed while the locks were waited for.
    return this.find(key, tx);
  }

  /** Replaces the invitation of an agent whose row the transaction has locked. */
  async replace(
    tx: Transaction,
    { tenantId, hash }: InvitationKey,
    agentId: string,
  ): Promise<OpenInvitation> {
    await tx.query('DELETE FROM invitations WHERE tenant_id = $1 AND agent_id = $2', [tenantId, agentId]);
    await tx.query(
      `INSERT INTO invitations (tenant_id, id, agent_id, hash, created_at, expires_at)
       VALUES ($1, $2, $3, $4, now(), now() + ${LIFE})`,
      [tenantId, newId(), agentId, hash],
    );
    return (await this.find({ tenantId, hash }, tx))!;
  }

  /** Deletes an invitation, and returns its agent's id; null when there is no such invitation. */
  async delete(tx: Transaction, tenantId: string, id: string): Promise<string | null> {
    if (!isId(id)) return null;
    const [row] = await tx.query<{ agentId: string }>(
      'DELETE FROM invitations WHERE tenant_id = $1 AND id = $2 RETURNING agent_id AS "agentId"',
      [tenantId, id],
    );
    return row?.agentId ?? null;
  }
}
