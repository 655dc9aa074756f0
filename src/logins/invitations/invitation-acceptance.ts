import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { makeFault } from '../../common/error-texts';
import { violatesUnique } from '../../database/driver/database-errors';
import { newId } from '../../common/ids';
import { Origin } from '../../access/principal';
import { Database } from '../../database/database';
import { AcceptLink, JoinedWorkspace } from '../links/link.dto';
import { PasswordCheck } from '../passwords/password-check';
import { PersonPassword } from '../passwords/person-password';
import { normalizeEmail, PeopleRepository } from '../people/people.repository';
import { PersonSessions } from '../sessions/person-sessions';
import { LoggedIn, SessionHolder } from '../sessions/session.dto';
import { InvitationLink, InvitationUse } from './invitation-use';

/**
 * Accepts invitations; no other class adds a person to a workspace. A link alone gives no access to an
 * existing login, because the manager who sent the invitation may have seen the link.
 */
@Injectable()
export class InvitationAcceptance {
  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationUse,
    private readonly people: PeopleRepository,
    private readonly check: PasswordCheck,
    private readonly password: PersonPassword,
    private readonly sessions: PersonSessions,
  ) {}

  /**
   * Makes a login for an e-mail address that has none, and logs the person in.
   * @throws AppError NOT_FOUND: another request has used the invitation; INVALID_BODY: the policy refuses the
   *   password, or another request has made a login for the address; RATE_LIMITED, UNAVAILABLE
   */
  async makeLogin(
    { key, invitation: { email, agentName } }: InvitationLink,
    { password = '', name = agentName, locale, browserToken }: AcceptLink,
    origin: Origin | undefined,
  ): Promise<LoggedIn> {
    const passwordHash = await this.check.hashNew(password, email, 'password', origin);
    const person = { id: newId(), email: normalizeEmail(email), name, locale: locale ?? null };
    try {
      return await this.database.transaction(async (tx) => {
        const locked = await this.invitations.lock(tx, key);
        await this.people.insert(tx, { ...person, theme: 'auto', passwordHash });
        await this.invitations.use(tx, locked, person, origin);
        return this.sessions.open(tx, person.id, browserToken, origin);
      });
    } catch (error) {
      throw violatesUnique(error, 'people_email_key') ? hasLogin() : error;
    }
  }

  /**
   * Adds the workspace to the holder's login. Ends the holder's other sessions and all links that reset the
   * password, because another person may have them and must not get into the workspace. Without a mail
   * server, the holder must set a new password, because another person was shown the login's first link.
   * @param password new password; required if `needsPassword` is set
   * @throws AppError NOT_FOUND: another request has used the invitation; FORBIDDEN: the invitation is for
   *   another e-mail address; INVALID_BODY: the policy refuses the password, it is the present one, or the
   *   login has 100 workspaces; UNAUTHENTICATED: the session has ended; RATE_LIMITED, UNAVAILABLE
   */
  async join(
    { key, needsPassword }: InvitationLink,
    holder: SessionHolder,
    password = '',
  ): Promise<JoinedWorkspace> {
    const changed = needsPassword ? await this.check.hashOther(holder, password, 'password') : null;
    return this.database.transaction(async (tx) => {
      const locked = await this.invitations.lock(tx, key);
      const person = await this.sessions.lock(tx, holder);
      const renewed = changed
        ? await this.password.change(tx, holder, changed.person, changed.hash)
        : await this.sessions.renew(tx, holder);
      const membership = await this.invitations.use(tx, locked, person, holder.origin);
      return { status: 'joined', ...membership, ...renewed };
    });
  }
}

function hasLogin(): AppError {
  const message = 'This e-mail address has a login already: log in, and open the link again.';
  return new AppError('INVALID_BODY', message, [{ field: 'email', ...makeFault('login_exists') }]);
}
