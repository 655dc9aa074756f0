import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { PageStatement } from '../database/page-statement';
import { Transaction } from '../database/transaction';
import { AgentKey } from '../database/tables/table-declaration';
import { AgentEntity } from './agent.entity';
import { WorkspacesRepository } from './workspaces.repository';

/** Columns of an AgentEntity, in SQL. */
const LISTED = `tenant_id AS "tenantId", id, name, display_name AS "displayName", email, role, is_bot AS "isBot",
  active, erased_at AS "erasedAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

@Injectable()
export class AgentsRepository {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
  ) {}

  async list(tenantId: string): Promise<AgentEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager.find(AgentEntity, { where: { tenantId }, order: { id: 'ASC' } });
  }

  /** Lists up to `count` agents below the cursor, the newest first. */
  listBelow(tenantId: string, cursor: string | undefined, count: number): Promise<AgentEntity[]> {
    return new PageStatement(LISTED, 'agents')
      .where('tenant_id = ?', tenantId)
      .read(this.database, cursor, count);
  }

  async find(tenantId: string, id: string): Promise<AgentEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(AgentEntity, { tenantId, id }) : null;
  }

  /** Finds those of the agents that the workspace has. */
  async findMany(tenantId: string, ids: string[]): Promise<AgentEntity[]> {
    if (ids.length === 0) return [];
    const sql = `SELECT ${LISTED} FROM agents WHERE tenant_id = $1 AND id = ANY ($2)`;
    return this.database.pipelinedRead(sql, [tenantId, ids]);
  }

  /** Finds an agent; null if the agent is unknown, inactive or of another workspace. */
  async findActive(reader: Reader, tenantId: string, id: string): Promise<AgentEntity | null> {
    return isId(id) ? reader.manager.findOneBy(AgentEntity, { tenantId, id, active: true }) : null;
  }

  /**
   * Locks an agent's row in share mode, so that the agent stays active until the commit. It comes before the
   * locks of conversations.
   * @returns false if the agent is unknown, inactive or of another workspace
   */
  async lockActive(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await tx.prepared(
      'SELECT 1 FROM agents WHERE tenant_id = $1 AND id = $2 AND active FOR SHARE',
      [tenantId, id],
    );
    return rows.length > 0;
  }

  /** Finds the oldest active OWNER or ADMIN: the default sender of a message. */
  async findFirstManager(reader: Reader, tenantId: string): Promise<Pick<AgentEntity, 'id'> | null> {
    const [manager] = await reader.prepared<{ id: string }>(
      `SELECT id FROM agents WHERE tenant_id = $1 AND active AND role IN ('OWNER', 'ADMIN') ORDER BY id LIMIT 1`,
      [tenantId],
    );
    return manager ?? null;
  }

  /** Counts the agents of a workspace, up to a limit. */
  async count(tx: Transaction, tenantId: string, limit: number): Promise<number> {
    return (await tx.query('SELECT FROM agents WHERE tenant_id = $1 LIMIT $2', [tenantId, limit])).length;
  }

  /** Counts the active agents that are no bots. */
  async countPeople(tenantId: string): Promise<number> {
    if (!isId(tenantId)) return 0;
    return this.database.manager.countBy(AgentEntity, { tenantId, active: true, isBot: false });
  }

  /** Reports whether the workspace has an active OWNER other than this agent. Bots do not count. */
  async hasOtherOwner(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    const others = await tx.query(
      `SELECT FROM agents WHERE tenant_id = $1 AND id <> $2 AND role = 'OWNER' AND active AND NOT is_bot LIMIT 1`,
      [tenantId, id],
    );
    return others.length > 0;
  }

  /** Locks an agent's row, in a transaction that has locked the workspace's row before that of any agent. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<AgentEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(AgentEntity, { where: { tenantId, id }, lock: { mode: 'for_no_key_update' } });
  }

  /** Locks the rows of agents, and before them the rows of their workspaces. */
  async lockWithWorkspaces(tx: Transaction, agents: AgentKey[]): Promise<void> {
    for (const { tenantId } of agents) await this.workspaces.lock(tx, tenantId);
    for (const { tenantId, agentId } of agents) await this.lock(tx, tenantId, agentId);
  }

  async insert(tx: Transaction, agent: AgentEntity): Promise<void> {
    await tx.manager.insert(AgentEntity, agent);
  }

  /**
   * Notes that an agent's role or activity changes, in a transaction that holds its lock. Links that were
   * made before for the agent, or by it, end.
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

  /** Notes whether an agent's conversations still have to become nobody's, under the agent's lock. */
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

  /** Locks an agent's row if the agent's conversations still have to become nobody's. */
  async lockReleasing(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    const rows = await tx.prepared(
      'SELECT FROM agents WHERE tenant_id = $1 AND id = $2 AND releases_conversations FOR NO KEY UPDATE',
      [tenantId, id],
    );
    return rows.length > 0;
  }

  /**
   * Reports whether agents are active, and have kept their roles and activity since a moment. It locks them
   * in share mode, so that this stays so until the commit.
   */
  async haveKeptAccess(tx: Transaction, tenantId: string, ids: string[], since: Date): Promise<boolean> {
    const found = await tx.query<{ hasKept: boolean }>(
      `SELECT active AND coalesce(access_changed_at <= $3, true) AS "hasKept" FROM agents
       WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id FOR SHARE`,
      [tenantId, ids, since],
    );
    return found.length === new Set(ids).size && found.every(({ hasKept }) => hasKept);
  }

  /** Erases what names an agent. The e-mail address that stands in its place is nobody's. */
  async erase(tx: Transaction, tenantId: string, id: string): Promise<void> {
    await tx.query(
      `UPDATE agents SET name = '', display_name = NULL, email = id || '@erased.invalid', erased_at = now(), updated_at = now()
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
  }

  /** Changes an agent's name, which colleagues see. */
  async rename(tx: Transaction, tenantId: string, id: string, name: string): Promise<void> {
    await tx.query('UPDATE agents SET name = $3, updated_at = now() WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      id,
      name,
    ]);
  }

  async update(tx: Transaction, { tenantId, id, ...values }: AgentEntity): Promise<void> {
    await tx.manager.update(AgentEntity, { tenantId, id }, values);
  }
}
