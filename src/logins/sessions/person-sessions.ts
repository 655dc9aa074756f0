import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Origin } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { LoginAudit, LoginChangeAuthor } from '../people/login-audit';
import { newToken, parseToken } from '../people/login-tokens';
import { PeopleRepository, PersonRow } from '../people/people.repository';
import { KnownBrowser, KnownBrowsersRepository } from './known-browsers.repository';
import { LoginSessionsRepository } from './login-sessions.repository';
import { PendingLoginsRepository } from './pending-logins.repository';
import { LoggedIn, LoginSession, RenewedSession, SessionHolder } from './session.dto';

/** Opens, renews and ends a person's sessions. All writes require the lock on the person's row. */
@Injectable()
export class PersonSessions {
  constructor(
    private readonly people: PeopleRepository,
    private readonly sessions: LoginSessionsRepository,
    private readonly pending: PendingLoginsRepository,
    private readonly browsers: KnownBrowsersRepository,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Locks the person's row, and checks that the session is active. So a change that the session's holder
   * requested can't commit after the session has ended.
   * @throws AppError UNAUTHENTICATED: the session has ended
   */
  async lock(tx: Transaction, { personId, sessionId }: SessionHolder): Promise<PersonRow> {
    const person = await this.people.lock(tx, personId);
    if (!person || !(await this.sessions.isActive(tx, personId, sessionId)))
      throw AppError.because('UNAUTHENTICATED', 'session_ended');
    return person;
  }

  /** Opens a session for a person who has passed every check of the login. */
  async open(
    tx: Transaction,
    personId: string,
    browserToken: string | undefined,
    origin: Origin | undefined,
  ): Promise<LoggedIn> {
    const { token, hash } = newToken();
    const sessionId = await this.sessions.insert(tx, personId, hash, origin);
    const newBrowserToken = await this.remember(tx, personId, browserToken);
    const isFirst = await this.people.markLoggedIn(tx, personId);
    const notice = newBrowserToken !== null && !isFirst ? 'new_browser' : undefined;
    await this.audit.append(tx, personId, { action: 'logged_in', origin, notice });
    return { status: 'logged_in', personId, sessionId, token, browserToken: newBrowserToken };
  }

  /** Replaces the session's token, and ends all other sessions and the pending logins of the person. */
  async renew(tx: Transaction, holder: SessionHolder): Promise<RenewedSession> {
    const { token, hash } = newToken();
    await this.sessions.renew(tx, holder.sessionId, hash);
    await this.endAll(tx, holder.personId, holder.sessionId);
    return { token };
  }

  /** Ends a person's pending logins, and all sessions but `keptId`. Returns how many sessions ended. */
  async endAll(tx: Transaction, personId: string, keptId: string | null = null): Promise<number> {
    await this.pending.deleteAll(tx, personId);
    return this.sessions.deleteOthers(tx, personId, keptId);
  }

  list(personId: string): Promise<LoginSession[]> {
    return this.sessions.list(personId);
  }

  listBrowsers(personId: string): Promise<KnownBrowser[]> {
    return this.browsers.list(personId);
  }

  async logOut(tx: Transaction, { personId, sessionId, origin }: SessionHolder): Promise<void> {
    await this.sessions.delete(tx, personId, sessionId);
    await this.audit.append(tx, personId, { action: 'logged_out', origin });
  }

  /**
   * Ends one of a person's sessions.
   * @throws AppError NOT_FOUND: the person has no such session
   */
  async revoke(tx: Transaction, personId: string, id: string, author: LoginChangeAuthor): Promise<void> {
    if (!(await this.sessions.delete(tx, personId, id))) throw AppError.notFound('Session');
    await this.audit.append(tx, personId, { action: 'session_revoked', ...author });
  }

  /** Ends the person's sessions except the holder's, and returns their number. Pending logins stay. */
  async revokeOthers(tx: Transaction, { personId, sessionId, origin }: SessionHolder): Promise<number> {
    const count = await this.sessions.deleteOthers(tx, personId, sessionId);
    await this.auditRevoked(tx, personId, count, { origin });
    return count;
  }

  /** Ends a person's sessions and pending logins, with an audit entry. Returns how many sessions ended. */
  async revokeAll(tx: Transaction, personId: string, author: LoginChangeAuthor): Promise<number> {
    const count = await this.endAll(tx, personId);
    await this.auditRevoked(tx, personId, count, author);
    return count;
  }

  private async auditRevoked(
    tx: Transaction,
    personId: string,
    count: number,
    author: LoginChangeAuthor,
  ): Promise<void> {
    if (count > 0)
      await this.audit.append(tx, personId, { action: 'sessions_revoked', ...author, metadata: { count } });
  }

  /** Makes a browser known and returns its new token; null for a known browser, which is prolonged. */
  private async remember(
    tx: Transaction,
    personId: string,
    browserToken: string | undefined,
  ): Promise<string | null> {
    const known = parseToken(browserToken);
    if (known && (await this.browsers.renew(tx, personId, known))) return null;
    const { token, hash } = newToken();
    await this.browsers.insert(tx, personId, hash);
    return token;
  }
}
