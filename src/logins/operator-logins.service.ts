import { Injectable } from '@nestjs/common';
import { requireOperator } from '../access/require-permission';
import { Actor } from '../access/principal';
import { Database } from '../database/database';
import { LinkMailer } from './links/link-mailer';
import { SentLink } from './links/link.dto';
import { PersonPassword } from './passwords/person-password';
import { PersonExport, PersonExports } from './person-export';
import { LoginAudit } from './people/login-audit';
import { AgentLogin, PeopleRepository } from './people/people.repository';
import { PersonSecondFactor } from './second-factor/person-second-factor';
import { PersonSessions } from './sessions/person-sessions';
import { LoginSession } from './sessions/session.dto';

/** Manages any login by its e-mail address, for operators. */
@Injectable()
export class OperatorLoginsService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly password: PersonPassword,
    private readonly links: LinkMailer,
    private readonly factor: PersonSecondFactor,
    private readonly sessions: PersonSessions,
    private readonly audit: LoginAudit,
    private readonly exports: PersonExports,
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
   * Makes a link that resets the password of a login. It is mailed when a mail server is configured;
   * otherwise the result holds it.
   * @throws AppError NOT_FOUND, FORBIDDEN; UNAVAILABLE: the mail was not sent
   */
  async sendReset(email: string, actor: Actor): Promise<SentLink> {
    requireOperator(actor, 'login.manage');
    const { id } = await this.people.getByEmail(email);
    const reset = await this.database.transaction(async (tx) => {
      const made = await this.password.makeReset(tx, id);
      await this.audit.append(tx, id, { action: 'password_reset_sent', operator: actor });
      return made;
    });
    return this.links.sendReset(reset.person, reset);
  }

  /**
   * Turns the second factor of a login off, for a person who has lost the app and the recovery codes.
   * @returns false when it was off already
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async turnOffSecondFactor(email: string, actor: Actor): Promise<boolean> {
    requireOperator(actor, 'login.manage');
    const { id } = await this.people.getByEmail(email);
    return this.database.transaction(async (tx) => {
      const person = await this.people.lock(tx, id);
      if (!person?.hasSecondFactor) return false;
      await this.factor.turnOff(tx, id, { operator: actor });
      return true;
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
   * Returns everything that is stored about a login, without secrets.
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async export(email: string, actor: Actor): Promise<PersonExport> {
    requireOperator(actor, 'login.read');
    return this.exports.get((await this.people.getByEmail(email)).id);
  }

  /**
   * Ends one session of a login, or all of them together with its pending logins.
   * @returns how many sessions ended
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async revokeSessions(
    email: string,
    sessionId: string | undefined,
    actor: Actor,
  ): Promise<{ revoked: number }> {
    requireOperator(actor, 'login.manage');
    const { id } = await this.people.getByEmail(email);
    return this.database.transaction(async (tx) => {
      await this.people.lock(tx, id);
      if (sessionId === undefined)
        return { revoked: await this.sessions.revokeAll(tx, id, { operator: actor }) };
      await this.sessions.revoke(tx, id, sessionId, { operator: actor });
      return { revoked: 1 };
    });
  }
}
