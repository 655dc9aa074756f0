import { Injectable } from '@nestjs/common';
import { groupBy } from '../../common/group-by';
import { isId, newId } from '../../common/ids';
import { Origin } from '../../access/principal';
import { cutStorable } from '../../common/validators';
import { Database } from '../../database/database';
import { WorkspaceRows } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';
import { LOCKED_AT, MAX_MEMBERSHIPS } from '../people/memberships.repository';
import { Person } from '../people/person.dto';
import { LoginSession, Membership, OpenedSession } from './session.dto';

/** Limit of the sessions of one person. A further session ends the oldest one. */
const MAX_SESSIONS = 100;
const MAX_ADDRESS = 45;
const MAX_USER_AGENT = 512;

const IDLE = `interval '12 hours'`;
const LONGEST = `interval '30 days'`;

const SESSION = `s.id, s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt", s.expires_at AS "expiresAt",
  s.address, s.user_agent AS "userAgent"`;

/** SQL that reads sessions, their persons and the ids of the workspaces. Callers append the WHERE clause. */
const SELECT_SESSIONS = `
  SELECT ${SESSION}, s.last_used_at < now() - interval '1 minute' AS "isUseStale",
    p.id AS "personId", p.email, p.name, p.locale, p.theme,
    EXISTS (SELECT FROM second_factors f
            WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor",
    ARRAY(SELECT w.tenant_id FROM person_workspaces w
          WHERE w.person_id = p.id LIMIT ${MAX_MEMBERSHIPS}) AS "tenantIds"
  FROM login_sessions s JOIN people p ON p.id = s.person_id`;

/** SQL that reads the memberships of the persons $2 in the workspaces $1 (ids), without inactive agents. */
const LIST_MEMBERSHIPS = `
  SELECT m.person_id AS "personId", a.id AS "agentId", a.name AS "agentName", a.role, w.id AS "workspaceId",
    w.name AS "workspaceName", w.slug, w.plan_tier AS "planTier", w.trial_ends_at AS "trialEndsAt",
    w.rate_limit AS "rateLimit", w.message_retention_days AS "messageRetentionDays", w.entitlements,
    w.suspended_at IS NOT NULL AS "isSuspended", d.grace_days AS "secondFactorGraceDays",
    ${LOCKED_AT} AS "lockedAt", ${LOCKED_AT} <= now() AS "isLockTime"
  FROM memberships m JOIN agents a ON a.tenant_id = m.tenant_id AND a.id = m.agent_id AND a.active
    JOIN workspaces w ON w.id = m.tenant_id
    LEFT JOIN second_factor_demands d ON d.tenant_id = m.tenant_id
  WHERE m.tenant_id = ANY ($1::uuid[]) AND m.person_id = ANY ($2::uuid[])
  ORDER BY lower(w.name), w.id`;

export interface AuthenticatedSession extends OpenedSession {
  /** Whether the recorded last use is more than a minute old. */
  isUseStale: boolean;
}

@Injectable()
export class LoginSessionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Reads an active session by the hash of its token, with the person and the memberships. Nothing is cached,
   * so the end of a session, a deactivated agent and a changed role take effect at the next request.
   */
  async authenticate(hash: Buffer): Promise<AuthenticatedSession | null> {
    const sessions = await this.database.prepared<SessionRow>(
      `${SELECT_SESSIONS} WHERE s.hash = $1 AND s.expires_at > now()`,
      [hash],
    );
    const [opened] = await this.addMemberships(sessions);
    return opened ?? null;
  }

  /** Reads the active sessions among these ids, with their persons and memberships. */
  async listOpened(ids: string[]): Promise<OpenedSession[]> {
    const sessions = await this.database.prepared<SessionRow>(
      `${SELECT_SESSIONS} WHERE s.id = ANY ($1::uuid[]) AND s.expires_at > now()`,
      [ids],
    );
    return this.addMemberships(sessions);
  }

  private async addMemberships(sessions: SessionRow[]): Promise<AuthenticatedSession[]> {
    const tenantIds = workspacesOf(sessions);
    const personIds = [...new Set(sessions.map(({ personId }) => personId))];
    const { rows, unreachableIds } = await this.readMemberships(tenantIds, personIds);
    const byPerson = groupBy(rows, ({ personId }) => personId);
    return sessions.map((session) =>
      toSession(session, byPerson.get(session.personId) ?? [], unreachableIds),
    );
  }

  private async readMemberships(
    tenantIds: string[],
    personIds: string[],
  ): Promise<WorkspaceRows<MembershipRow>> {
    if (tenantIds.length === 0) return { rows: [], unreachableIds: new Set() };
    return this.database.placement.readWorkspaces<MembershipRow>(LIST_MEMBERSHIPS, [tenantIds, personIds], {
      times: ['trialEndsAt', 'lockedAt'],
      order: ({ workspaceName, workspaceId }) => [workspaceName.toLowerCase(), workspaceId],
    });
  }

  /** Returns the token hashes that belong to active sessions. */
  async findActive(hashes: Buffer[]): Promise<Buffer[]> {
    const rows = await this.database.prepared<{ hash: Buffer }>(
      'SELECT hash FROM login_sessions WHERE hash = ANY ($1::bytea[]) AND expires_at > now()',
      [hashes],
    );
    return rows.map(({ hash }) => hash);
  }

  /**
   * Records the use of a session, at most once a minute. The session then expires after 12 hours without use,
   * and at the latest 30 days after the login.
   */
  async markUsed(id: string): Promise<void> {
    await this.database.query(
      `UPDATE login_sessions s SET last_used_at = now(),
         expires_at = least((s.created_at AT TIME ZONE 'UTC' + ${LONGEST}) AT TIME ZONE 'UTC', now() + ${IDLE})
       WHERE s.id = $1 AND s.last_used_at < now() - interval '1 minute' AND s.expires_at > now()`,
      [id],
    );
  }

  list(personId: string): Promise<LoginSession[]> {
    return this.database.query<LoginSession>(
      `SELECT ${SESSION} FROM login_sessions s WHERE s.person_id = $1 AND s.expires_at > now()
       ORDER BY s.id DESC LIMIT ${MAX_SESSIONS}`,
      [personId],
    );
  }

  /** Adds a session, and returns its id. Requires the lock on the person's row. */
  async insert(
    tx: Transaction,
    personId: string,
    hash: Buffer,
    { address, userAgent }: Origin = {},
  ): Promise<string> {
    const id = newId();
    await tx.query(
      `DELETE FROM login_sessions WHERE person_id = $1 AND id IN (
         SELECT id FROM login_sessions WHERE person_id = $1
         ORDER BY id DESC OFFSET ${MAX_SESSIONS - 1} LIMIT ${MAX_SESSIONS})`,
      [personId],
    );
    await tx.query(
      `INSERT INTO login_sessions (id, person_id, hash, address, user_agent, created_at, last_used_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, now(), now(), now() + ${IDLE})`,
      [
        id,
        personId,
        hash,
        address === undefined ? null : cutStorable(address, MAX_ADDRESS),
        userAgent === undefined ? null : cutStorable(userAgent, MAX_USER_AGENT),
      ],
    );
    return id;
  }

  /** Reports whether a session is active. While the person's row is locked, the session can't end. */
  async isActive(tx: Transaction, personId: string, id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await tx.query(
      'SELECT FROM login_sessions WHERE id = $1 AND person_id = $2 AND expires_at > now()',
      [id, personId],
    );
    return rows.length > 0;
  }

  async renew(tx: Transaction, id: string, hash: Buffer): Promise<void> {
    await tx.query('UPDATE login_sessions SET hash = $2 WHERE id = $1', [id, hash]);
  }

  /** Ends a session. Returns false if the person has no such session. */
  async delete(tx: Transaction, personId: string, id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await tx.query(
      'DELETE FROM login_sessions WHERE id = $1 AND person_id = $2 AND expires_at > now() RETURNING 1',
      [id, personId],
    );
    return rows.length > 0;
  }

  /** Ends a person's sessions except `keptId`. Returns the number of sessions that ended. */
  async deleteOthers(tx: Transaction, personId: string, keptId: string | null): Promise<number> {
    const rows = await tx.query(
      'DELETE FROM login_sessions WHERE person_id = $1 AND id IS DISTINCT FROM $2 RETURNING 1',
      [personId, keptId],
    );
    return rows.length;
  }
}

type SessionRow = LoginSession &
  Omit<Person, 'id'> & { personId: string; isUseStale: boolean; tenantIds: string[] };

/** Membership of an active agent. `lockedAt` and `isLockTime` are null if no second factor is demanded. */
type MembershipRow = Omit<Membership, 'workspace'> &
  Omit<Membership['workspace'], 'id' | 'name'> & {
    personId: string;
    workspaceId: string;
    workspaceName: string;
    /** Whether the time `lockedAt` has come. */
    isLockTime: boolean | null;
  };

function workspacesOf(sessions: SessionRow[]): string[] {
  return [...new Set(sessions.flatMap(({ tenantIds }) => tenantIds))];
}

function toSession(
  row: SessionRow,
  memberships: MembershipRow[],
  unreachableIds: ReadonlySet<string>,
): AuthenticatedSession {
  const { personId, email, name, locale, theme, hasSecondFactor, isUseStale } = row;
  const { id, createdAt, lastUsedAt, expiresAt, address, userAgent } = row;
  const isLocked = ({ isLockTime }: MembershipRow) => isLockTime === true && !hasSecondFactor;
  const toOwn = (membership: MembershipRow) => toMembership(membership, hasSecondFactor);
  return {
    person: { id: personId, email, name, locale, theme, hasSecondFactor },
    session: { id, createdAt, lastUsedAt, expiresAt, address, userAgent },
    memberships: memberships.filter((one) => !isLocked(one)).map(toOwn),
    lockedMemberships: memberships.filter(isLocked).map(toOwn),
    unreachableWorkspaceIds: row.tenantIds.filter((id) => unreachableIds.has(id)),
    isUseStale,
  };
}

function toMembership(row: MembershipRow, hasSecondFactor: boolean): Membership {
  const { slug, planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements, isSuspended } = row;
  const plan = { planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements, isSuspended };
  const { secondFactorGraceDays, lockedAt } = row;
  return {
    agentId: row.agentId,
    agentName: row.agentName,
    role: row.role,
    workspace: { id: row.workspaceId, name: row.workspaceName, slug, ...plan, secondFactorGraceDays },
    lockedAt: hasSecondFactor ? null : lockedAt,
  };
}
