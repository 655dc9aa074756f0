import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { PageStatement } from '../database/page-statement';
import { Transaction } from '../database/transaction';
import { AgentKey } from '../database/tables/table-declaration';
import { AgentEntity } from './agent.entity';
import { WorkspacesRepository } from './workspaces.repository';

const COLUMNS = `tenant_id AS "tenantId", id, name, display_name AS "displayName", email, role, is_bot AS "isBot",
  active, erased_at AS "erasedAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** SQL that selects the first manager of the workspace $1. */
export const SELECT_FIRST_MANAGER = `
  SELECT id FROM agents WHERE tenant_id = $1 AND active AND role IN ('OWNER', 'ADMIN') ORDER BY id LIMIT 1`;

@Injectable()
export class AgentsRepository {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
  ) {}

  async list(tenantId: string): Promise<AgentEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.query(`SELECT ${COLUMNS} FROM agents WHERE tenant_id = $1 ORDER BY id`, [tenantId]);
  }

  /** Lists up to `count` agents with ids below the cursor, newest first. */
  listBelow(tenantId: string, cursor: string | undefined, count: number): Promise<AgentEntity[]> {
    return new PageStatement(COLUMNS, 'agents')
      .where('tenant_id = ?', tenantId)
      .read(this.database, cursor, count);
  }

  async find(tenantId: string, id: string): Promise<AgentEntity | null> {
    return isId(id) ? this.findOne(this.database, '', tenantId, id) : null;
  }

  /** Finds agents by their ids. Leaves out ids of unknown agents and of other workspaces. */
  async findMany(tenantId: string, ids: string[]): Promise<AgentEntity[]> {
    if (ids.length === 0) return [];
    const sql = `SELECT ${COLUMNS} FROM agents WHERE tenant_id = $1 AND id = ANY ($2)`;
    return this.database.pipelinedRead(sql, [tenantId, ids]);
  }

  /** Finds an agent; null if the agent is unknown, inactive or another workspace's. */
  async findActive(reader: Reader, tenantId: string, id: string): Promise<AgentEntity | null> {
    return isId(id) ? this.findOne(reader, 'AND active', tenantId, id) : null;
  }

  /**
   * Locks an agent's row in share mode, so that the agent stays active until the commit. To avoid deadlocks,
   * lock agents before conversations.
   * @returns false if the agent is unknown, inactive or another workspace's
   */
  async lockActive(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await tx.prepared(
      'SELECT 1 FROM agents WHERE tenant_id = $1 AND id = $2 AND active FOR SHARE',
      [tenantId, id],
    );
    return rows.length > 0;
  }

  /** Finds the oldest active OWNER or ADMIN, who is the default sender of a message. */
  async findFirstManager(reader: Reader, tenantId: string): Promise<Pick<AgentEntity, 'id'> | null> {
    const [manager] = await reader.prepared<{ id: string }>(SELECT_FIRST_MANAGER, [tenantId]);
    return manager ?? null;
  }

  async count(tx: Transaction, tenantId: string, limit: number): Promise<number> {
    return (await tx.query('SELECT FROM agents WHERE tenant_id = $1 LIMIT $2', [tenantId, limit])).length;
  }

  /** Counts the active agents that are not bots. */
  async countPeople(tenantId: string): Promise<number> {
    if (!isId(tenantId)) return 0;
    const [row] = await this.database.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM agents WHERE tenant_id = $1 AND active AND NOT is_bot',
      [tenantId],
    );
    return row!.count;
  }

  /** Reports whether the workspace has an active OWNER besides this agent. Bots do not count. */
  async hasOtherOwner(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    const others = await tx.query(
      `SELECT FROM agents WHERE tenant_id = $1 AND id <> $2 AND role = 'OWNER' AND active AND NOT is_bot LIMIT 1`,
      [tenantId, id],
    );
    return others.length > 0;
  }

  /** Locks an agent's row. The transaction must have locked the workspace's row before. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<AgentEntity | null> {
    return isId(id) ? this.findOne(tx, 'FOR NO KEY UPDATE', tenantId, id) : null;
  }

  /** Locks the rows of the agents' workspaces, and then the rows of the agents. */
  async lockWithWorkspaces(tx: Transaction, agents: AgentKey[]): Promise<void> {
    for (const { tenantId } of agents) await this.workspaces.lock(tx, tenantId);
    for (const { tenantId, agentId } of agents) await this.lock(tx, tenantId, agentId);
  }

  async insert(tx: Transaction, agent: AgentEntity): Promise<void> {
    const { tenantId, id, name, displayName, email, role, isBot, active, createdAt, updatedAt } = agent;
    await tx.query(
      `INSERT INTO agents (tenant_id, id, name, display_name, email, role, is_bot, active, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [tenantId, id, name, displayName, email, role, isBot, active, createdAt, updatedAt],
    );
  }

  /**
   * Records that an agent's role or activity changes. Older invitations and links to reset a password stop
   * working if they were made for the agent or by the agent. The transaction must have locked the agent's
   * row.
   */
  async noteAccessChange(
    tx: Transaction,
    { tenantId, id }: Pick<AgentEntity, 'tenantId' | 'id'>,
  ): Promise<void> {
    const now = await tx.readClock();
    tx.pipeline('UPDATE agents SET access_changed_at = $3 WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      id,
      now,
    ]);
  }

  /** Records whether the agent still has conversations to unassign. The agent's row must be locked. */
  async setReleasing(
    tx: Transaction,
    { tenantId, id }: Pick<AgentEntity, 'tenantId' | 'id'>,
    isReleasing: boolean,
  ): Promise<void> {
    await tx.prepared('UPDATE agents SET releases_conversations = $3 WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      id,
      isReleasing,
    ]);
  }

  /** Locks an agent's row if the agent still has conversations to unassign; returns false otherwise. */
  async lockReleasing(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    const rows = await tx.prepared(
      'SELECT FROM agents WHERE tenant_id = $1 AND id = $2 AND releases_conversations FOR NO KEY UPDATE',
      [tenantId, id],
    );
    return rows.length > 0;
  }

  /**
   * Reports whether all these agents are active, and neither role nor activity has changed after `since`.
   * Locks their rows in share mode, so that no agent changes before the commit.
   */
  async haveKeptAccess(tx: Transaction, tenantId: string, ids: string[], since: Date): Promise<boolean> {
    const found = await tx.query<{ hasKept: boolean }>(
      `SELECT active AND coalesce(access_changed_at <= $3, true) AS "hasKept" FROM agents
       WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id FOR SHARE`,
      [tenantId, ids, since],
    );
    return found.length === new Set(ids).size && found.every(({ hasKept }) => hasKept);
  }

  /** Deletes an agent's names, and replaces the e-mail address by one that no mail can reach. */
  async erase(tx: Transaction, tenantId: string, id: string): Promise<void> {
    await tx.query(
      `UPDATE agents SET name = '', display_name = NULL, email = id || '@erased.invalid', erased_at = now(), updated_at = now()
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
  }

  async rename(tx: Transaction, tenantId: string, id: string, name: string): Promise<void> {
    await tx.query('UPDATE agents SET name = $3, updated_at = now() WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      id,
      name,
    ]);
  }

  async update(tx: Transaction, agent: AgentEntity): Promise<void> {
    const { tenantId, id, name, displayName, role, active, updatedAt } = agent;
    await tx.query(
      `UPDATE agents SET name = $3, display_name = $4, role = $5, active = $6, updated_at = $7
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, name, displayName, role, active, updatedAt],
    );
  }

  private async findOne(
    reader: Reader,
    condition: '' | 'AND active' | 'FOR NO KEY UPDATE',
    tenantId: string,
    id: string,
  ): Promise<AgentEntity | null> {
    const sql = `SELECT ${COLUMNS} FROM agents WHERE tenant_id = $1 AND id = $2 ${condition}`;
    const [agent] = await reader.query<AgentEntity>(sql, [tenantId, id]);
    return agent ?? null;
  }
}
