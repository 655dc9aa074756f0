import { Injectable } from '@nestjs/common';
import { requireOperator } from '../access/require-permission';
import { Actor } from '../common/principal';
import { Database } from '../database/database';
import { SentLink } from './login.dto';
import { LoginAudit } from './login-audit';
import { LoginLinks } from './login-links';
import { AgentLogin, MembershipsRepository } from './memberships.repository';
import { PeopleRepository } from './people.repository';
import { ResetTokens } from './reset-tokens';
import { SecondFactors } from './second-factors';

/** Logins by their e-mail address, whatever their workspaces: for operators alone. */
@Injectable()
export class OperatorLoginsService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly memberships: MembershipsRepository,
    private readonly tokens: ResetTokens,
    private readonly links: LoginLinks,
    private readonly factors: SecondFactors,
    private readonly audit: LoginAudit,
  ) {}

  /** The workspace's agents who have a login, oldest first. */
  list(tenantId: string): Promise<AgentLogin[]> {
    return this.memberships.listOfWorkspace(tenantId);
  }

  /**
   * Makes a link that resets the password of a login. It is mailed when a mail server is configured; otherwise the result has
   * it.
   * @throws AppError NOT_FOUND, FORBIDDEN; UNAVAILABLE: the mail was not sent
   */
  async sendReset(email: string, actor: Actor): Promise<SentLink> {
    requireOperator(actor, 'login.manage');
    const { id } = await this.people.getByEmail(email);
    const reset = await this.database.transaction(async (tx) => {
      const made = await this.tokens.makeIn(tx, id);
      await this.audit.append(tx, id, { action: 'password_reset_sent', by: actor });
      return made;
    });
    return this.links.sendReset(reset);
  }

  /**
   * Turns the second factor of a login off, for somebody who has lost the app and the recovery codes.
   * @returns false when it was off already
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async turnOffSecondFactor(email: string, actor: Actor): Promise<boolean> {
    requireOperator(actor, 'login.manage');
    const { id } = await this.people.getByEmail(email);
    return this.database.transaction(async (tx) => {
      const person = await this.people.lock(tx, id);
      if (!person?.hasSecondFactor) return false;
      await this.factors.turnOff(tx, id);
      await this.audit.append(tx, id, { action: 'second_factor_turned_off', by: actor });
      return true;
    });
  }
}
