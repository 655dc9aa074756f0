import { Injectable } from '@nestjs/common';
import { AlertKind } from '../../alerts/alert-kinds';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { AgentKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { isSuspended } from '../../workspaces/suspension';

/** Largest number of alerts that one mail collects. */
export const MAX_COLLECTED = 50;
/** Time for which a worker has a mail for itself: more than a mail may take. */
const LEASE = `interval '2 minutes'`;

/** SQL condition that an agent of the alias may read alerts and can log in. */
const isManager = (agent: string) =>
  `${agent}.active AND NOT ${agent}.is_bot AND ${agent}.role IN ('OWNER', 'ADMIN')`;

/** Mails that a person has chosen. */
export interface MailChoice {
  isOn: boolean;
  mutedKinds: AlertKind[];
}

/** Mail that a worker has claimed. */
export interface ClaimedMail extends MailChoice {
  mailId: string;
  alertIds: string[];
  tries: number;
}

export interface MailWorkspace {
  name: string;
  slug: string;
}

/** Writes the table `alert_mailboxes`: the choice of each manager, the collected alerts, and one mail. */
@Injectable()
export class AlertMailboxesRepository {
  constructor(private readonly database: Database) {}

  /** Reads an agent's choice; null if the agent has made none. */
  async findChoice({ tenantId, agentId }: AgentKey): Promise<MailChoice | null> {
    const [row] = await this.database.query<MailChoice>(
      `SELECT is_on AS "isOn", muted_kinds AS "mutedKinds" FROM alert_mailboxes
       WHERE tenant_id = $1 AND agent_id = $2`,
      [tenantId, agentId],
    );
    return row ?? null;
  }

  async setChoice(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    { isOn, mutedKinds }: MailChoice,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO alert_mailboxes (tenant_id, agent_id, is_on, muted_kinds) VALUES ($1, $2, $3, $4)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET is_on = excluded.is_on, muted_kinds = excluded.muted_kinds`,
      [tenantId, agentId, isOn, mutedKinds],
    );
  }

  /** Ends all mails to an agent. The muted kinds stay, for when the agent chooses mails again. */
  async end(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query(
      `INSERT INTO alert_mailboxes (tenant_id, agent_id, is_on) VALUES ($1, $2, false)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET is_on = false`,
      [tenantId, agentId],
    );
  }

  /** Lists the managers of a workspace who have a login, by their ids. */
  async listManagers(tx: Transaction, tenantId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `SELECT a.id FROM agents a JOIN memberships m ON m.tenant_id = $1 AND m.agent_id = a.id
       WHERE a.tenant_id = $1 AND ${isManager('a')} ORDER BY a.id`,
      [tenantId],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Adds an alert to the next mail of an agent, unless the agent has muted its kind. The first one makes the
   * mail due, at once or when the time after the mail before has passed.
   */
  async collect(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    { id, kind }: { id: string; kind: AlertKind },
  ): Promise<void> {
    await tx.query(
      `INSERT INTO alert_mailboxes AS m (tenant_id, agent_id, collected_ids, due_at)
       VALUES ($1, $2, ARRAY[$3::uuid], $5)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET
         collected_ids = CASE WHEN $3 = ANY (m.collected_ids) OR cardinality(m.collected_ids) >= ${MAX_COLLECTED}
           THEN m.collected_ids ELSE m.collected_ids || excluded.collected_ids END,
         due_at = coalesce(m.due_at, greatest(excluded.due_at, m.free_at))
       WHERE m.is_on AND NOT $4 = ANY (m.muted_kinds)`,
      [tenantId, agentId, id, kind, new Date()],
    );
  }

  /** Finds up to 1,000 agents of a database server who have a mail that is due. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<AgentKey>> {
    return searchDue<AgentKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", agent_id AS "agentId", due_at::text AS "dueAt"
       FROM alert_mailboxes WHERE due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Claims an agent's due mail, and counts the try before it begins. The first try makes a mail of the
   * collected alerts; a further one repeats it, because a mail program shows one mail of an id.
   * @param mailId id of a new mail
   * @returns null if another worker has it
   */
  async claim(tx: Transaction, { tenantId, agentId }: AgentKey, mailId: string): Promise<ClaimedMail | null> {
    const [row] = await tx.query<ClaimedMail>(
      `UPDATE alert_mailboxes SET tries = tries + 1, due_at = now() + ${LEASE},
         mail_id = coalesce(mail_id, $3),
         mail_alert_ids = CASE WHEN mail_id IS NULL THEN collected_ids ELSE mail_alert_ids END,
         collected_ids = CASE WHEN mail_id IS NULL THEN '{}' ELSE collected_ids END
       WHERE tenant_id = $1 AND agent_id = $2 AND due_at <= now()
       RETURNING mail_id AS "mailId", mail_alert_ids AS "alertIds", tries, is_on AS "isOn",
         muted_kinds AS "mutedKinds"`,
      [tenantId, agentId, mailId],
    );
    return row ?? null;
  }

  /** Reads the workspace of an agent who may be mailed; null if none may, or the workspace is suspended. */
  async findWorkspace(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<MailWorkspace | null> {
    const [row] = await tx.query<MailWorkspace>(
      `SELECT w.name, w.slug FROM agents a JOIN workspaces w ON w.id = $1
       WHERE a.tenant_id = $1 AND a.id = $2 AND ${isManager('a')} AND NOT ${isSuspended('$1')}`,
      [tenantId, agentId],
    );
    return row ?? null;
  }

  /** Sets when a claimed mail is tried again. */
  async schedule(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    { mailId, tries }: ClaimedMail,
    dueAt: Date,
  ): Promise<void> {
    await tx.query(
      `UPDATE alert_mailboxes SET due_at = $5
       WHERE tenant_id = $1 AND agent_id = $2 AND mail_id = $3 AND tries = $4`,
      [tenantId, agentId, mailId, tries, dueAt],
    );
  }

  /**
   * Ends a claimed mail that was sent, given up or needless. Alerts that were collected meanwhile are due at
   * `freeAt`. A worker whose lease has ended ends nothing if another has begun.
   */
  async finish(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    { mailId, tries }: ClaimedMail,
    freeAt: Date,
  ): Promise<void> {
    await tx.query(
      `UPDATE alert_mailboxes SET mail_id = NULL, mail_alert_ids = '{}', tries = 0, free_at = $5,
         due_at = CASE WHEN cardinality(collected_ids) > 0 THEN $5::timestamptz END
       WHERE tenant_id = $1 AND agent_id = $2 AND mail_id = $3 AND tries = $4`,
      [tenantId, agentId, mailId, tries, freeAt],
    );
  }

  async deleteByAgent(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('DELETE FROM alert_mailboxes WHERE tenant_id = $1 AND agent_id = $2', [tenantId, agentId]);
  }
}
