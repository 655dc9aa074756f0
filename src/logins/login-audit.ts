import { Injectable } from '@nestjs/common';
import { AuditTally } from '../audit/audit-tally';
import { AuditService } from '../audit/audit.service';
import { LOWEST_ID } from '../common/ids';
import { Actor, Origin } from '../common/principal';
import { Transaction } from '../database/transaction';
import { MembershipsRepository } from './memberships.repository';

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
  | 'sessions_revoked';

interface LoginChange {
  action: LoginAction;
  origin?: Origin;
  /** Somebody else than the person: an operator. */
  by?: Actor;
  metadata?: Record<string, unknown>;
}

/** Tells each workspace of a person what becomes of the login: as of its own agent, without a word of the others. */
@Injectable()
export class LoginAudit {
  constructor(
    private readonly memberships: MembershipsRepository,
    private readonly audit: AuditService,
    private readonly tally: AuditTally,
  ) {}

  async append(tx: Transaction, personId: string, change: LoginChange): Promise<void> {
    const { action, origin, by, metadata } = change;
    for (const { tenantId, agentId } of await this.memberships.listActive(personId, tx)) {
      const actor: Actor = by ?? { type: 'agent', id: agentId, origin };
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: `agent.${action}`, metadata });
    }
  }

  /**
   * Counts what strangers can repeat at will.
   * @param personId null for nobody: it asks the database all the same, so that the answer takes as long
   */
  async count(
    personId: string | null,
    action: 'login_failed' | 'code_failed' | 'password_reset_requested',
    origin?: Origin,
  ): Promise<void> {
    for (const { tenantId, agentId } of await this.memberships.listActive(personId ?? LOWEST_ID))
      this.tally.add({ tenantId, action: `agent.${action}`, entity: 'agent', entityId: agentId, origin });
  }
}
