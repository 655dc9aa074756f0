import { Injectable } from '@nestjs/common';
import { AuditTally } from '../../audit/audit-tally';
import { AuditService } from '../../audit/audit.service';
import { LOWEST_ID } from '../../common/ids';
import { Actor, Origin } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { LoginNotices } from './login-notices';
import { MembershipsRepository } from './memberships.repository';
import { Notice } from './notice-texts';

export type LoginAction =
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

/** Author of a change of a login: the person, with the origin of the request, or an operator. */
export interface LoginChangeAuthor {
  origin?: Origin;
  operator?: Actor;
}

interface LoginChange extends LoginChangeAuthor {
  action: LoginAction;
  metadata?: Record<string, unknown>;
}

/** Actions of which the person also gets a mail. */
const NOTICES: Partial<Record<LoginAction, Notice>> = {
  password_changed: 'password_changed',
  password_reset: 'password_changed',
  second_factor_turned_on: 'second_factor_turned_on',
  second_factor_turned_off: 'second_factor_turned_off',
  recovery_code_used: 'recovery_code_used',
};

/**
 * Writes changes of a person's login to the audit log of each workspace that the login opens, and mails some
 * of them to the person. An entry is about that workspace's agent, and names no other workspace.
 */
@Injectable()
export class LoginAudit {
  constructor(
    private readonly memberships: MembershipsRepository,
    private readonly audit: AuditService,
    private readonly tally: AuditTally,
    private readonly notices: LoginNotices,
  ) {}

  async append(tx: Transaction, personId: string, change: LoginChange): Promise<void> {
    const { action, origin, operator, metadata } = change;
    const notice = NOTICES[action];
    if (notice) this.notices.sendOnCommit(tx, personId, notice, operator ? null : origin);
    for (const { tenantId, agentId } of await this.memberships.listActive(personId, tx)) {
      const actor: Actor = operator ?? { type: 'agent', id: agentId, origin };
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: `agent.${action}`, metadata });
    }
  }

  /**
   * Counts an event that strangers can cause at will, such as a failed login.
   * @param personId null for an unknown login, for which the same reads are made, so that the answer takes as
   *   long
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
}
