import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { makeFault } from '../../common/error-texts';
import { violatesUnique } from '../../database/driver/database-errors';
import { newId } from '../../common/ids';
import { Origin } from '../../access/principal';
import { Database } from '../../database/database';
import { LinkMailer } from '../links/link-mailer';
import { AcceptLink, JoinedWorkspace } from '../links/link.dto';
import { PasswordCheck } from '../passwords/password-check';
import { PersonPassword } from '../passwords/person-password';
import { InvitationKey, parseInvitationToken } from '../people/login-tokens';
import { normalizeEmail, PeopleRepository } from '../people/people.repository';
import { PersonSessions } from '../sessions/person-sessions';
import { LoggedIn, SessionHolder } from '../sessions/session.dto';
import { InvitationUse } from './invitation-use';
import { InvitationsRepository, OpenInvitation } from './invitations.repository';

/** Invitation that can be accepted, as its token finds it. */
export interface InvitationLink {
  kind: 'invitation';
  key: InvitationKey;
  invitation: OpenInvitation;
  /**
   * Whether the e-mail address has a login, to which `join` adds the workspace. Without one, `makeLogin`
   * makes a login.
   */
  needsLogin: boolean;
  /** Whether accepting needs a new password. */
  needsPassword: boolean;
}

/**
 * Accepts invitations. Nothing else makes a person a member of a workspace. An e-mail address alone gives no
 * access to a login that exists, because the manager who invited may have seen the link.
 */
@Injectable()
export class InvitationAcceptance {
  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationsRepository,
    private readonly invitationUse: InvitationUse,
    private readonly people: PeopleRepository,
    private readonly check: PasswordCheck,
    private readonly password: PersonPassword,
    private readonly sessions: PersonSessions,
    private readonly links: LinkMailer,
  ) {}

  /** Finds the invitation of a token; null for a token of no invitation that can be accepted. */
  async find(token: string): Promise<InvitationLink | null> {
    const key = parseInvitationToken(token);
    const invitation = key && (await this.invitations.find(key));
    if (!invitation) return null;
    const needsLogin = (await this.people.findByEmail(invitation.email)) !== null;
    const needsPassword = !needsLogin || !this.links.isConfigured;
    return { kind: 'invitation', key, invitation, needsLogin, needsPassword };
  }

  /**
   * Makes a login for an e-mail address that has none, and logs its person in.
   * @throws AppError NOT_FOUND: another request has used the invitation; INVALID_BODY: a bad password, or
   *   another request has made a login for the address; RATE_LIMITED, UNAVAILABLE
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
        const locked = await this.invitationUse.lock(tx, key);
        await this.people.insert(tx, { ...person, theme: 'auto', passwordHash });
        await this.invitationUse.use(tx, locked, person, origin);
        return this.sessions.open(tx, person.id, browserToken, origin);
      });
    } catch (error) {
      throw violatesUnique(error, 'people_email_key') ? hasLogin() : error;
    }
  }

  /**
   * Adds the workspace to the holder's login. The invitation must be to the holder's own e-mail address. All
   * other sessions end, and so do links that reset the password, because other people may hold those, and
   * must not get into the workspace. Neither must who was shown the login's first link: without mail, the
   * holder sets a new password.
   * @param password new password, where the invitation needs one
   * @throws AppError NOT_FOUND: another request has used the invitation; FORBIDDEN: it is for another e-mail
   *   address; INVALID_BODY: a bad password or the present one, or the login has 100 workspaces;
   *   UNAUTHENTICATED: the session has ended; RATE_LIMITED, UNAVAILABLE
   */
  async join(
    { key, needsPassword }: InvitationLink,
    holder: SessionHolder,
    password = '',
  ): Promise<JoinedWorkspace> {
    const changed = needsPassword ? await this.check.hashOther(holder, password, 'password') : null;
    return this.database.transaction(async (tx) => {
      const locked = await this.invitationUse.lock(tx, key);
      const person = await this.sessions.lock(tx, holder);
      const renewed = changed
        ? await this.password.change(tx, holder, changed.person, changed.hash)
        : await this.sessions.renew(tx, holder);
      const membership = await this.invitationUse.use(tx, locked, person, holder.origin);
      return { status: 'joined', ...membership, ...renewed };
    });
  }
}

function hasLogin(): AppError {
  const message = 'This e-mail address has a login already: log in, and open the link again.';
  return new AppError('INVALID_BODY', message, [{ field: 'email', ...makeFault('login_exists') }]);
}
