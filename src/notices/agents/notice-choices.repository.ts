import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { AgentKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { NoticeChoices } from './notice-choices.dto';

export const STEP_AGENTS = 100;

export interface StoredChoices extends NoticeChoices {
  mailRefusedAt: Date | null;
}

export type ListedChoices = AgentKey & StoredChoices;

const COLUMNS = `mail_matters AS "mailMatters", mail_after_minutes AS "mailAfterMinutes",
  push_matters AS "pushMatters", push_after_minutes AS "pushAfterMinutes", mail_refused_at AS "mailRefusedAt"`;

/** Writes the table `agent_notice_choices`: the notices that agents want while they are not there. */
@Injectable()
export class NoticeChoicesRepository {
  constructor(private readonly database: Database) {}

  async find({ tenantId, agentId }: AgentKey, reader: Reader = this.database): Promise<StoredChoices | null> {
    const [row] = await reader.query<StoredChoices>(
      `SELECT ${COLUMNS} FROM agent_notice_choices WHERE tenant_id = $1 AND agent_id = $2`,
      [tenantId, agentId],
    );
    return row ?? null;
  }

  /** Stores choices in place of earlier ones. Mails to an address that was refused begin again. */
  async set(tx: Transaction, { tenantId, agentId }: AgentKey, choices: NoticeChoices): Promise<void> {
    const { mailMatters, mailAfterMinutes, pushMatters, pushAfterMinutes } = choices;
    await tx.query(
      `INSERT INTO agent_notice_choices
         (tenant_id, agent_id, mail_matters, mail_after_minutes, push_matters, push_after_minutes, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET mail_matters = excluded.mail_matters,
         mail_after_minutes = excluded.mail_after_minutes, push_matters = excluded.push_matters,
         push_after_minutes = excluded.push_after_minutes, mail_refused_at = NULL, updated_at = excluded.updated_at`,
      [tenantId, agentId, mailMatters, mailAfterMinutes, pushMatters, pushAfterMinutes, new Date()],
    );
  }

  /** Ends the mails to an agent whose address the mail server does not know. */
  async setMailRefused(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query(
      'UPDATE agent_notice_choices SET mail_refused_at = now() WHERE tenant_id = $1 AND agent_id = $2',
      [tenantId, agentId],
    );
  }

  /** Lists up to 100 agents of a database server who have chosen notices, by their ids. */
  list([tenantId, agentId]: [string, string], server: WorkspaceServer): Promise<ListedChoices[]> {
    return server.search<ListedChoices>(
      `SELECT tenant_id AS "tenantId", agent_id AS "agentId", ${COLUMNS} FROM agent_notice_choices
       WHERE (tenant_id, agent_id) > ($1::uuid, $2::uuid)
       ORDER BY tenant_id, agent_id LIMIT ${STEP_AGENTS}`,
      [tenantId, agentId],
      {
        order: (one) => [one.tenantId, one.agentId],
        limit: STEP_AGENTS,
        times: ['mailRefusedAt'],
      },
    );
  }

  async delete(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('DELETE FROM agent_notice_choices WHERE tenant_id = $1 AND agent_id = $2', [
      tenantId,
      agentId,
    ]);
  }
}
