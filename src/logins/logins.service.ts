import { Injectable, Logger } from '@nestjs/common';
import { Origin } from '../access/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Metrics } from '../metrics/metrics';
import { KeyLookup } from '../http/limits/key-lookup';
import { PasswordCheck } from './passwords/password-check';
import { parseToken } from './people/login-tokens';
import { SecondStep } from './second-factor/second-step';
import { LoginSessionsRepository } from './sessions/login-sessions.repository';
import { PersonSessions } from './sessions/person-sessions';
import {
  ConfirmSecondFactor,
  LoggedIn,
  LogIn,
  LoginSession,
  OpenedSession,
  SecondFactorRequired,
  SessionHolder,
} from './sessions/session.dto';

@Injectable()
export class LoginsService {
  private readonly logger = new Logger(LoginsService.name);
  /** Finds sessions by token. All keys have the same owner, because a token's hash alone finds a session. */
  private readonly lookup: KeyLookup<'sessions'>;

  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly secondStep: SecondStep,
    private readonly sessions: PersonSessions,
    private readonly repository: LoginSessionsRepository,
    metrics: Metrics,
  ) {
    this.lookup = new KeyLookup('sessions', metrics, async (hashes) => {
      const active = await repository.findActive(hashes);
      return active.map((key) => ({ key, owner: 'sessions' }));
    });
  }

  /**
   * Logs in with a password. For a person with a second factor, the result is a pending login, which gives no
   * access until `confirmSecondFactor` succeeds.
   * @param origin origin of the request; guesses are limited by the network of its `address`
   * @throws AppError UNAUTHENTICATED: the e-mail address is unknown, or the password is wrong; RATE_LIMITED
   *   with `retryAfterSeconds`; UNAVAILABLE; INVALID_BODY
   */
  async logIn(input: LogIn, origin?: Origin): Promise<LoggedIn | SecondFactorRequired> {
    const { email, password, browserToken } = validate(LogIn, input);
    const checked = await this.check.requireLogin({ email, password }, parseToken(browserToken), origin);
    return this.database.transaction(async (tx) => {
      const { id: personId, hasSecondFactor } = await this.check.lockSame(tx, checked);
      if (hasSecondFactor)
        return this.secondStep.makePendingLogin(tx, { personId, browserId: checked.browserId });
      return this.sessions.open(tx, personId, browserToken, origin);
    });
  }

  /**
   * Finishes a pending login with a code of the authenticator app or a recovery code. Each code works once.
   * @throws AppError UNAUTHENTICATED: the code is wrong, or the pending login has expired or had five
   *   attempts; RATE_LIMITED, INVALID_BODY
   */
  async confirmSecondFactor(input: ConfirmSecondFactor, origin?: Origin): Promise<LoggedIn> {
    const { pendingToken, code, browserToken } = validate(ConfirmSecondFactor, input);
    const attempt = await this.secondStep.countAttempt(pendingToken, origin);
    const loggedIn = await this.database.transaction(async (tx) => {
      if (!(await this.secondStep.finish(tx, attempt, code, origin))) return null;
      return this.sessions.open(tx, attempt.personId, browserToken, origin);
    });
    if (!loggedIn) throw await this.secondStep.refuse(attempt, origin);
    await attempt.noGuess();
    return loggedIn;
  }

  /**
   * Ends the session that makes the call.
   * @throws AppError UNAUTHENTICATED: the session has ended already
   */
  async logOut(holder: SessionHolder): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.sessions.lock(tx, holder);
      await this.sessions.logOut(tx, holder);
    });
  }

  /**
   * Returns the person to whom a session's token belongs, with the workspaces that the session opens. Every
   * call reads the database, so a revoked session, a deactivated agent and a changed role take effect at the
   * next request.
   * @returns null for a token that is malformed, unknown, expired or revoked
   * @throws AppError UNAVAILABLE: too many requests with unknown tokens wait
   */
  async authenticate(token: string): Promise<OpenedSession | null> {
    const hash = parseToken(token);
    const found = hash && (await this.lookup.find(hash, () => this.repository.authenticate(hash)));
    if (!found) return null;
    const { isUseStale, ...opened } = found;
    if (isUseStale) this.markUsed(opened.session.id);
    return opened;
  }

  /**
   * Returns the active sessions among these ids, with the workspaces that they open now. Use it to check the
   * sessions behind a stream, which outlasts the request that `authenticate` checked. The check does not
   * prolong a session.
   */
  listOpened(sessionIds: string[]): Promise<OpenedSession[]> {
    return this.repository.listOpened(sessionIds);
  }

  /** Lists the holder's sessions, newest first. */
  listSessions({ personId }: Pick<SessionHolder, 'personId'>): Promise<LoginSession[]> {
    return this.sessions.list(personId);
  }

  /**
   * Ends one of the holder's sessions. The next request of that session is refused.
   * @throws AppError NOT_FOUND, UNAUTHENTICATED
   */
  async revokeSession(holder: SessionHolder, id: string): Promise<void> {
    const { personId, origin } = holder;
    await this.database.transaction(async (tx) => {
      await this.sessions.lock(tx, holder);
      await this.sessions.revoke(tx, personId, id, { origin });
    });
  }

  /**
   * Ends all sessions of the person except the session that makes the call.
   * @returns number of sessions that ended
   * @throws AppError UNAUTHENTICATED
   */
  async revokeOtherSessions(holder: SessionHolder): Promise<{ revoked: number }> {
    return this.database.transaction(async (tx) => {
      await this.sessions.lock(tx, holder);
      return { revoked: await this.sessions.revokeOthers(tx, holder) };
    });
  }

  private markUsed(id: string): void {
    this.repository
      .markUsed(id)
      .catch((error: Error) =>
        this.logger.warn({ err: error }, 'the last use of a session was not recorded'),
      );
  }
}
