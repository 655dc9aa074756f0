import { Injectable } from '@nestjs/common';
import { AuditTally } from '../../audit/audit-tally';
import { AuditService } from '../../audit/audit.service';
import { LOWEST_ID } from '../../common/ids';
import { Actor, Origin } from '../../access/principal';
import { Config } from '../../config/config';
import { Transaction } from '../../database/transaction';
import { Mailer } from '../../mails/mailer';
import { MembershipsRepository } from './memberships.repository';
import { Notice, noticeMail } from './notice-texts';
import { PeopleRepository } from './people.repository';

type LoginAction =
  | 'logged_in'
  | 'logged_out'
  | 'password_changed'
  | 'password_reset'
  | 'password_reset_sent'
  | 'second_factor_turned_on'
  | 'second_factor_turned_off'
  | 'recovery_codes_renewed'
  | 'recovery_code_used'
  | 'session_revoked'
  | 'sessions_revoked'
  | 'renamed';

/** Author of a change of a login: an operator, or the person if `operator` is missing. */
export interface LoginChangeAuthor {
  origin?: Origin;
  operator?: Actor;
}

interface LoginChange extends LoginChangeAuthor {
  action: LoginAction;
  metadata?: Record<string, unknown>;
  /** Notice to mail to the person; by default the entry of `NOTICES` for the action. */
  notice?: Notice;
}

const NOTICES: Partial<Record<LoginAction, Notice>> = {
  password_changed: 'password_changed',
  password_reset: 'password_changed',
  second_factor_turned_on: 'second_factor_turned_on',
  second_factor_turned_off: 'second_factor_turned_off',
  recovery_code_used: 'recovery_code_used',
};

/**
 * Writes each change of a person's login to the audit log of every workspace that the login opens. An entry
 * names only the person's agent in that workspace. Some changes are also mailed to the person, if a mail
 * server is configured.
 */
@Injectable()
export class LoginAudit {
  constructor(
    private readonly memberships: MembershipsRepository,
    private readonly audit: AuditService,
    private readonly tally: AuditTally,
    private readonly people: PeopleRepository,
    private readonly config: Config,
    private readonly mailer: Mailer,
  ) {}

  async append(tx: Transaction, personId: string, change: LoginChange): Promise<void> {
    const { action, origin, operator, metadata, notice = NOTICES[action] } = change;
    if (notice) this.mailOnCommit(tx, personId, notice, operator ? null : (origin ?? {}));
    for (const { tenantId, agentId } of await this.memberships.listActive(personId, tx)) {
      const actor: Actor = operator ?? { type: 'agent', id: agentId, origin };
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: `agent.${action}`, metadata });
    }
  }

  /**
   * Counts an event that strangers can cause at will, such as a failed login, for a summary in the audit log.
   * @param personId null for an unknown login; as many statements run for it as for a known one
   */
  async count(
    personId: string | null,
    action: 'login_failed' | 'code_failed' | 'password_reset_requested',
    origin?: Origin,
  ): Promise<void> {
    for (const { tenantId, agentId } of await this.memberships.listActive(personId ?? LOWEST_ID))
      this.tally.countAction({
        tenantId,
        action: `agent.${action}`,
        entity: 'agent',
        entityId: agentId,
        origin,
      });
  }

  /**
   * Mails a notice in the background, after the transaction's commit. A failure is logged.
   * @param by origin of the person's request; null if an operator makes the change
   */
  private mailOnCommit(tx: Transaction, personId: string, notice: Notice, by: Origin | null): void {
    if (!this.mailer.isConfigured) return;
    const occasion = { at: new Date(), by, appUrl: this.config.appUrl };
    tx.onCommit(() =>
      this.mailer.sendInBackground('notices', async () => {
        const person = await this.people.find(personId);
        return person && { to: person.email, ...noticeMail(person.locale, notice, occasion) };
      }),
    );
  }
}
