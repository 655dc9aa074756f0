import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { violatesUnique } from '../database/database-errors';
import { newId } from '../common/ids';
import { Origin } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Callers } from './callers';
import { InvitationUse } from './invitation-use';
import { AcceptInvitation, Caller, LoggedIn } from './login.dto';
import { PasswordHasher } from './password-hasher';
import { requireGoodPassword } from './password-policy';
import { keyOfEmail, PeopleRepository } from './people.repository';
import { SessionOpener } from './session-opener';

/**
 * Accepts invitations. Nothing else makes a person a member of a workspace, and an e-mail address alone never does: a link may
 * have been seen by the one who invited, so it gives no access to a login that there is already.
 */
@Injectable()
export class AcceptancesService {
  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationUse,
    private readonly people: PeopleRepository,
    private readonly hasher: PasswordHasher,
    private readonly opener: SessionOpener,
    private readonly callers: Callers,
  ) {}

  /**
   * Makes a login for an e-mail address that has none, and logs it in.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; INVALID_BODY, also when the address
   * has a login: log in, then `join`; RATE_LIMITED, UNAVAILABLE
   */
  async accept(token: string, input: AcceptInvitation, origin?: Origin): Promise<LoggedIn> {
    const { password, name, locale, browserToken } = validate(AcceptInvitation, input);
    const { email, agentName } = await this.invitations.find(token, origin);
    if (await this.people.findByEmail(email)) throw hasLogin();
    requireGoodPassword(password, email, 'password');
    const passwordHash = await this.hasher.hash(password, origin);
    const person = { id: newId(), email: keyOfEmail(email), name: name ?? agentName, locale: locale ?? null };
    try {
      return await this.database.transaction(async (tx) => {
        await this.people.insert(tx, { ...person, theme: 'auto', passwordHash });
        await this.invitations.use(tx, token, person, origin);
        return this.opener.open(tx, person.id, browserToken, origin);
      });
    } catch (error) {
      throw violatesUnique(error, 'people_email_key') ? hasLogin() : error;
    }
  }

  /**
   * Adds the workspace to the caller's login. The invitation must be to the caller's own e-mail address. What others may have
   * been given before does not open the workspace: all other sessions end, and links that reset the password.
   * @throws AppError NOT_FOUND: as above; FORBIDDEN: it is for somebody else; INVALID_BODY: the login has 100 workspaces;
   * UNAUTHENTICATED
   */
  async join(token: string, caller: Caller): Promise<{ tenantId: string; agentId: string }> {
    const { origin } = caller;
    await this.invitations.find(token, origin);
    return this.database.transaction(async (tx) => {
      const person = await this.callers.lock(tx, caller);
      await this.callers.endOthers(tx, caller);
      return this.invitations.use(tx, token, person, origin);
    });
  }
}

function hasLogin(): AppError {
  const message = 'This e-mail address has a login already: log in, and open the link again.';
  return new AppError('INVALID_BODY', message, [{ field: 'email', message: 'has a login already' }]);
}
