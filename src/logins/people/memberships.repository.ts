import { Injectable } from '@nestjs/common';
import { AgentRole } from '../../access/permissions';
import { Database, Reader } from '../../database/database';
import { AgentKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';

interface MemberAgent {
  agentId: string;
  role: AgentRole;
  active: boolean;
  personId: string;
}

export interface ExportedMembership {
  joinedAt: Date;
  workspaceName: string;
  workspaceSlug: string;
  agentId: string;
  agentName: string;
  displayName: string | null;
  email: string;
  role: AgentRole;
  active: boolean;
  /** Whether the person gets mails about alerts, as an OWNER or ADMIN. */
  hasAlertMails: boolean;
  mutedAlertKinds: string[];
  /** Matters of which the agent gets notices by mail; empty until the agent chooses some. */
  mailMatters: string[];
  mailAfterMinutes: number | null;
  /** Matters of which the agent gets notices in browsers; empty until the agent chooses some. */
  pushMatters: string[];
  pushAfterMinutes: number | null;
  /** Time at which the mail server refused the agent's address, since the last choice. */
  mailRefusedAt: Date | null;
}

/** Limit of a person's memberships, because a change of the login adds an audit entry to each workspace. */
export const MAX_MEMBERSHIPS = 100;

/**
 * SQL expression for the time from which a workspace refuses a person without a second factor. `m` is the
 * person's row of `memberships`, `d` the workspace's row of `second_factor_demands`.
 */
export const LOCKED_AT = 'greatest(d.demanded_at, m.created_at) + make_interval(days => d.grace_days)';

/**
 * Stores memberships: that a person is an agent of a workspace. A second table, `person_workspaces`, has the
 * workspaces of each person. A membership begins only when the person accepts an invitation of the workspace.
 */
@Injectable()
export class MembershipsRepository {
  constructor(private readonly database: Database) {}

  async insert(tx: Transaction, personId: string, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('INSERT INTO person_workspaces (person_id, tenant_id) VALUES ($1, $2)', [
      personId,
      tenantId,
    ]);
    await tx.query(
      'INSERT INTO memberships (tenant_id, agent_id, person_id, created_at) VALUES ($1, $2, $3, now())',
      [tenantId, agentId, personId],
    );
  }

  async delete(tx: Transaction, personId: string, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('DELETE FROM memberships WHERE tenant_id = $1 AND agent_id = $2', [tenantId, agentId]);
    await tx.query('DELETE FROM person_workspaces WHERE person_id = $1 AND tenant_id = $2', [
      personId,
      tenantId,
    ]);
  }

  /** Counts the person's workspaces, including those in which the person's agent is inactive. */
  async count(tx: Transaction, personId: string): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM person_workspaces WHERE person_id = $1',
      [personId],
    );
    return row!.count;
  }

  /** Lists the ids of the person's workspaces, including those in which the person's agent is inactive. */
  async listWorkspaceIds(personId: string, reader: Reader = this.database): Promise<string[]> {
    const rows = await reader.query<{ tenantId: string }>(
      `SELECT tenant_id AS "tenantId" FROM person_workspaces WHERE person_id = $1
       ORDER BY tenant_id LIMIT ${MAX_MEMBERSHIPS}`,
      [personId],
    );
    return rows.map(({ tenantId }) => tenantId);
  }

  async listActive(personId: string, reader: Reader = this.database): Promise<AgentKey[]> {
    return reader.query<AgentKey>(
      `SELECT m.tenant_id AS "tenantId", m.agent_id AS "agentId"
       FROM memberships m JOIN agents a ON a.tenant_id = m.tenant_id AND a.id = m.agent_id AND a.active
       WHERE m.tenant_id = ANY ($1::uuid[]) AND m.person_id = $2 ORDER BY m.tenant_id, m.agent_id`,
      [await this.listWorkspaceIds(personId, reader), personId],
    );
  }

  async listForExport(personId: string): Promise<ExportedMembership[]> {
    return this.database.query<ExportedMembership>(
      `SELECT m.created_at AS "joinedAt", w.name AS "workspaceName", w.slug AS "workspaceSlug", a.id AS "agentId",
              a.name AS "agentName", a.display_name AS "displayName", a.email, a.role, a.active,
              coalesce(b.is_on, true) AS "hasAlertMails", coalesce(b.muted_kinds, '{}') AS "mutedAlertKinds",
              coalesce(c.mail_matters, '{}') AS "mailMatters", c.mail_after_minutes AS "mailAfterMinutes",
              coalesce(c.push_matters, '{}') AS "pushMatters", c.push_after_minutes AS "pushAfterMinutes",
              c.mail_refused_at AS "mailRefusedAt"
       FROM memberships m JOIN agents a ON a.tenant_id = m.tenant_id AND a.id = m.agent_id
         JOIN workspaces w ON w.id = m.tenant_id
         LEFT JOIN alert_mailboxes b ON b.tenant_id = m.tenant_id AND b.agent_id = m.agent_id
         LEFT JOIN agent_notice_choices c ON c.tenant_id = m.tenant_id AND c.agent_id = m.agent_id
       WHERE m.tenant_id = ANY ($1::uuid[]) AND m.person_id = $2 ORDER BY m.created_at, w.id`,
      [await this.listWorkspaceIds(personId), personId],
    );
  }

  /** Lists the workspace's agents who have a login, oldest first. */
  listAgents(tenantId: string): Promise<MemberAgent[]> {
    return this.database.query<MemberAgent>(
      `SELECT a.id AS "agentId", a.role, a.active, m.person_id AS "personId"
       FROM memberships m JOIN agents a ON a.tenant_id = $1 AND a.id = m.agent_id
       WHERE m.tenant_id = $1 ORDER BY a.id`,
      [tenantId],
    );
  }

  /** Returns the id of the agent's person; null for an agent without a login. */
  async findPersonId(reader: Reader, { tenantId, agentId }: AgentKey): Promise<string | null> {
    const [row] = await reader.query<{ personId: string }>(
      'SELECT person_id AS "personId" FROM memberships WHERE tenant_id = $1 AND agent_id = $2',
      [tenantId, agentId],
    );
    return row?.personId ?? null;
  }
}
