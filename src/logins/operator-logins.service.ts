import { Injectable } from '@nestjs/common';
import { requireOperator } from '../access/require-permission';
import { Actor } from '../access/principal';
import { LinkMailer } from './links/link-mailer';
import { SentLink } from './links/link.dto';
import { PersonPassword } from './passwords/person-password';
import { PeopleService, PersonExport } from './people.service';
import { AgentLogin, PeopleRepository } from './people/people.repository';
import { PersonSecondFactor } from './second-factor/person-second-factor';
import { PersonSessions } from './sessions/person-sessions';
import { LoginSession } from './sessions/session.dto';

/** Lets operators read and change people's logins. A login is named by its e-mail address. */
@Injectable()
export class OperatorLoginsService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly password: PersonPassword,
    private readonly links: LinkMailer,
    private readonly factor: PersonSecondFactor,
    private readonly sessions: PersonSessions,
    private readonly data: PeopleService,
  ) {}

  /**
   * Lists a workspace's agents who have a login, oldest first.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<AgentLogin[]> {
    requireOperator(actor, 'login.read');
    return this.people.listAgentLogins(tenantId);
  }

  /**
   * Makes a link that resets the password of a login. If a mail server is configured, the link is mailed;
   * otherwise the result contains the link.
   * @throws AppError NOT_FOUND, FORBIDDEN; UNAVAILABLE: the mail was not sent
   */
  async sendReset(email: string, actor: Actor): Promise<SentLink> {
    requireOperator(actor, 'login.manage');
    const reset = await this.people.withLockByEmail(email, (tx, { id }) =>
      this.password.makeReset(tx, id, { operator: actor }),
    );
    return this.links.sendReset(reset, null);
  }

  /**
   * Turns the second factor of a login off, for a person who has lost the app and the recovery codes.
   * @returns false if the second factor was off already
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async turnOffSecondFactor(email: string, actor: Actor): Promise<boolean> {
    requireOperator(actor, 'login.manage');
    return this.people.withLockByEmail(email, async (tx, { id, hasSecondFactor }) => {
      if (hasSecondFactor) await this.factor.turnOff(tx, id, { operator: actor });
      return hasSecondFactor;
    });
  }

  /**
   * Lists the sessions of a login, newest first.
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async listSessions(email: string, actor: Actor): Promise<LoginSession[]> {
    requireOperator(actor, 'login.read');
    return this.sessions.list((await this.people.getByEmail(email)).id);
  }

  /**
   * Returns all stored data of a login, without secrets.
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async export(email: string, actor: Actor): Promise<PersonExport> {
    requireOperator(actor, 'login.read');
    return this.data.export({ personId: (await this.people.getByEmail(email)).id });
  }

  /**
   * Ends one session of a login. Without `sessionId`, ends all of its sessions and pending logins.
   * @returns the number of sessions that ended
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async revokeSessions(
    email: string,
    sessionId: string | undefined,
    actor: Actor,
  ): Promise<{ revoked: number }> {
    requireOperator(actor, 'login.manage');
    return this.people.withLockByEmail(email, async (tx, { id }) => {
      if (sessionId === undefined)
        return { revoked: await this.sessions.revokeAll(tx, id, { operator: actor }) };
      await this.sessions.revoke(tx, id, sessionId, { operator: actor });
      return { revoked: 1 };
    });
  }
}
