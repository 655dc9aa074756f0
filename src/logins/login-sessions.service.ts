import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Database } from '../database/database';
import { Callers } from './callers';
import { Caller, LoginSession, OpenedSession } from './login.dto';
import { LoginAudit } from './login-audit';
import { LoginSessionLookup } from './login-session-lookup';
import { LoginSessionsRepository } from './login-sessions.repository';

/** The sessions of people who are logged in. */
@Injectable()
export class LoginSessionsService {
  private readonly logger = new Logger(LoginSessionsService.name);

  constructor(
    private readonly database: Database,
    private readonly sessions: LoginSessionsRepository,
    private readonly lookup: LoginSessionLookup,
    private readonly callers: Callers,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Who a session's token belongs to, and where they may do what: for every request, from the database. A revoked session,
   * a deactivated agent and a changed role count from the next request on.
   * @returns null for a token that is malformed, unknown, expired or revoked
   * @throws AppError UNAVAILABLE: too many unknown tokens wait
   */
  async authenticate(token: string): Promise<OpenedSession | null> {
    const found = await this.lookup.find(token);
    if (!found) return null;
    const { isUseStale, ...opened } = found;
    if (isUseStale) this.markUsed(opened.session.id);
    return opened;
  }

  /** The person's own sessions, newest first. */
  list({ personId }: Pick<Caller, 'personId'>): Promise<LoginSession[]> {
    return this.sessions.list(personId);
  }

  /**
   * Ends the caller's own session.
   * @throws AppError UNAUTHENTICATED: it has ended already
   */
  async logOut(caller: Caller): Promise<void> {
    const { personId, sessionId, origin } = caller;
    await this.database.transaction(async (tx) => {
      await this.callers.lock(tx, caller);
      await this.sessions.delete(tx, personId, sessionId);
      await this.audit.append(tx, personId, { action: 'logged_out', origin });
    });
  }

  /**
   * Ends one of the caller's sessions: its next request is refused.
   * @throws AppError NOT_FOUND, UNAUTHENTICATED
   */
  async revoke(caller: Caller, id: string): Promise<void> {
    const { personId, origin } = caller;
    await this.database.transaction(async (tx) => {
      await this.callers.lock(tx, caller);
      if (!(await this.sessions.delete(tx, personId, id))) throw AppError.notFound('Session');
      await this.audit.append(tx, personId, { action: 'session_revoked', origin });
    });
  }

  /**
   * Ends all of the caller's sessions but this one.
   * @returns how many ended
   * @throws AppError UNAUTHENTICATED
   */
  async revokeOthers(caller: Caller): Promise<{ revoked: number }> {
    const { personId, sessionId, origin } = caller;
    return this.database.transaction(async (tx) => {
      await this.callers.lock(tx, caller);
      const revoked = await this.sessions.deleteOthers(tx, personId, sessionId);
      if (revoked > 0)
        await this.audit.append(tx, personId, {
          action: 'sessions_revoked',
          origin,
          metadata: { count: revoked },
        });
      return { revoked };
    });
  }

  /** Not awaited: the caller must not wait for this write. */
  private markUsed(id: string): void {
    this.sessions
      .markUsed(id)
      .catch((error: Error) =>
        this.logger.warn({ err: error }, 'the last use of a session was not recorded'),
      );
  }
}
