import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { AgentsRepository } from '../../workspaces/agents.repository';

/** Stored link. `tenantId` and `agentId` are null if the person or an operator asked for the link. */
interface StoredReset {
  personId: string;
  tenantId: string | null;
  agentId: string | null;
  madeBy: string | null;
  createdAt: Date;
}

const COLUMNS = `person_id AS "personId", workspace_id AS "tenantId", agent_id AS "agentId", made_by AS "madeBy",
  created_at AS "createdAt"`;
const LIFE = `interval '24 hours'`;
/** Limit of one person's links that reset the password. A further link replaces the oldest one. */
const MAX_RESETS = 20;

/** Agent for whom a link is made. `madeBy` is the id of the agent who made it; null if no agent made it. */
export interface ResetGrant {
  tenantId: string;
  agentId: string;
  madeBy: string | null;
}

/** Stores the links that reset a password. Each works once. */
@Injectable()
export class PasswordResetsRepository {
  constructor(private readonly agents: AgentsRepository) {}

  /**
   * Adds a link, and returns the time at which it expires. Requires the lock on the person's row.
   * @param grant null if the person or an operator asked for the link
   */
  async insert(tx: Transaction, personId: string, hash: Buffer, grant: ResetGrant | null): Promise<Date> {
    await tx.query(
      `DELETE FROM password_resets WHERE person_id = $1 AND hash IN (
         SELECT hash FROM password_resets WHERE person_id = $1
         ORDER BY expires_at DESC OFFSET ${MAX_RESETS - 1} LIMIT ${MAX_RESETS})`,
      [personId],
    );
    const [row] = await tx.query<{ expiresAt: Date }>(
      `INSERT INTO password_resets (hash, person_id, workspace_id, agent_id, made_by, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + ${LIFE})
       RETURNING expires_at AS "expiresAt"`,
      [hash, personId, grant?.tenantId ?? null, grant?.agentId ?? null, grant?.madeBy ?? null],
    );
    return row!.expiresAt;
  }

  /**
   * Returns the id of the person whose password the link resets. If the link was made for an agent, locks the
   * rows of this agent and of the agent who made the link, in share mode.
   * @returns null if the link was used or has expired, or one of the agents has lost access or changed role
   */
  async find(tx: Transaction, hash: Buffer): Promise<string | null> {
    const [row] = await tx.query<StoredReset>(
      `SELECT ${COLUMNS} FROM password_resets WHERE hash = $1 AND expires_at > now()`,
      [hash],
    );
    return row && (await this.isGranted(tx, row)) ? row.personId : null;
  }

  /** Deletes a link. Returns false if another transaction has deleted it since `find`. */
  async use(tx: Transaction, hash: Buffer): Promise<boolean> {
    const used = await tx.query('DELETE FROM password_resets WHERE hash = $1 RETURNING 1', [hash]);
    return used.length > 0;
  }

  async deleteAll(tx: Transaction, personId: string): Promise<void> {
    await tx.query('DELETE FROM password_resets WHERE person_id = $1', [personId]);
  }

  private async isGranted(tx: Transaction, { tenantId, agentId, madeBy, createdAt }: StoredReset) {
    if (tenantId === null || agentId === null) return true;
    const ids = madeBy === null ? [agentId] : [agentId, madeBy];
    return this.agents.haveKeptAccess(tx, tenantId, ids, createdAt);
  }
}
