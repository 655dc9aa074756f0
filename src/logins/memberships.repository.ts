import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';

/** An agent of a workspace, who is the person. */
export interface MembershipKey {
  tenantId: string;
  agentId: string;
}

/** What `login list` shows of an agent with a login. */
export interface AgentLogin {
  agentId: string;
  email: string;
  role: string;
  active: boolean;
  hasSecondFactor: boolean;
  lastLoggedInAt: Date | null;
}

/** A change of a login has an entry in the audit log of each of them. */
export const MAX_MEMBERSHIPS = 100;

/** Which agents a person is. Only the acceptance of that workspace's own invitation adds one. */
@Injectable()
export class MembershipsRepository {
  constructor(private readonly database: Database) {}

  async insert(tx: Transaction, personId: string, { tenantId, agentId }: MembershipKey): Promise<void> {
    await tx.query(
      'INSERT INTO memberships (tenant_id, agent_id, person_id, created_at) VALUES ($1, $2, $3, now())',
      [tenantId, agentId, personId],
    );
  }

  /** Those of inactive agents too. */
  async list(reader: Reader, personId: string): Promise<MembershipKey[]> {
    return reader.query<MembershipKey>(
      `SELECT tenant_id AS "tenantId", agent_id AS "agentId" FROM memberships WHERE person_id = $1
       ORDER BY tenant_id, agent_id LIMIT ${MAX_MEMBERSHIPS}`,
      [personId],
    );
  }

  async listActive(personId: string, reader: Reader = this.database): Promise<MembershipKey[]> {
    return reader.query<MembershipKey>(
      `SELECT m.tenant_id AS "tenantId", m.agent_id AS "agentId"
       FROM memberships m JOIN agents a ON a.tenant_id = m.tenant_id AND a.id = m.agent_id AND a.active
       WHERE m.person_id = $1 ORDER BY m.tenant_id, m.agent_id LIMIT ${MAX_MEMBERSHIPS}`,
      [personId],
    );
  }

  /** @returns the person's id; null for an agent without a login */
  async personOf(reader: Reader, { tenantId, agentId }: MembershipKey): Promise<string | null> {
    const [row] = await reader.query<{ personId: string }>(
      'SELECT person_id AS "personId" FROM memberships WHERE tenant_id = $1 AND agent_id = $2',
      [tenantId, agentId],
    );
    return row?.personId ?? null;
  }

  /** The workspace's agents who can log in, the oldest first. */
  listOfWorkspace(tenantId: string): Promise<AgentLogin[]> {
    return this.database.query<AgentLogin>(
      `SELECT a.id AS "agentId", p.email, a.role, a.active, p.last_logged_in_at AS "lastLoggedInAt",
              EXISTS (SELECT FROM second_factors f WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"
       FROM memberships m JOIN agents a ON a.tenant_id = $1 AND a.id = m.agent_id
         JOIN people p ON p.id = m.person_id
       WHERE m.tenant_id = $1 ORDER BY a.id`,
      [tenantId],
    );
  }
}
