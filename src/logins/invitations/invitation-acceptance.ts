import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { violatesUnique } from '../../database/database-errors';
import { newId } from '../../common/ids';
import { Origin } from '../../common/principal';
import { Database } from '../../database/database';
import { AcceptLink, JoinedWorkspace } from '../links/link.dto';
import { PasswordCheck } from '../passwords/password-check';
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
   * Whether the e-mail address has a login, to which `join` adds the workspace. Without one, `begin` makes a
   * login.
   */
  needsLogin: boolean;
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
    private readonly sessions: PersonSessions,
  ) {}

  /** Finds the invitation of a token; null for a token of no invitation that can be accepted. */
  async find(token: string): Promise<InvitationLink | null> {
    const key = parseInvitationToken(token);
    const invitation = key && (await this.invitations.find(key));
    if (!invitation) return null;
    const needsLogin = (await this.people.findByEmail(invitation.email)) !== null;
    return { kind: 'invitation', key, invitation, needsLogin };
  }

  /**
   * Makes a login for an e-mail address that has none, and logs its person in.
   * @throws AppError NOT_FOUND: another request has used the invitation; INVALID_BODY: a bad password, or
   *   another request has made a login for the address; RATE_LIMITED, UNAVAILABLE
   */
  async begin(
    { key, invitation: { email, agentName } }: InvitationLink,
    { password = '', name = agentName, locale, browserToken }: AcceptLink,
    origin: Origin | undefined,
  ): Promise<LoggedIn> {
    const passwordHash = await this.check.hashNew(password, email, 'password', origin);
    const person = { id: newId(), email: normalizeEmail(email), name, locale: locale ?? null };
    try {
      return await this.database.transaction(async (tx) => {
        await this.people.insert(tx, { ...person, theme: 'auto', passwordHash });
        await this.invitationUse.use(tx, key, person, origin);
        return this.sessions.open(tx, person.id, browserToken, origin);
      });
    } catch (error) {
      throw violatesUnique(error, 'people_email_key') ? hasLogin() : error;
    }
  }

  /**
   * Adds the workspace to the holder's login. The invitation must be to the holder's own e-mail address. All
   * other sessions end, and so do links that reset the password, because other people may hold those, and
   * must not get into the workspace.
   * @throws AppError NOT_FOUND: another request has used the invitation; FORBIDDEN: it is for another e-mail
   *   address; INVALID_BODY: the login has 100 workspaces; UNAUTHENTICATED: the session has ended
   */
  join({ key }: InvitationLink, holder: SessionHolder): Promise<JoinedWorkspace> {
    return this.database.transaction(async (tx) => {
      const person = await this.sessions.lock(tx, holder);
      await this.sessions.endOthers(tx, holder);
      return { status: 'joined', ...(await this.invitationUse.use(tx, key, person, holder.origin)) };
    });
  }
}

function hasLogin(): AppError {
  const message = 'This e-mail address has a login already: log in, and open the link again.';
  return new AppError('INVALID_BODY', message, [{ field: 'email', message: 'has a login already' }]);
}
