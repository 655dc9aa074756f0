import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { Actor, Origin } from '../common/principal';
import { Transaction } from '../database/transaction';
import { GuessLimits } from './guess-limits';
import { InvitationsRepository, OpenInvitation } from './invitations.repository';
import { invitationKeyOf } from './login-tokens';
import { MAX_MEMBERSHIPS, MembershipKey, MembershipsRepository } from './memberships.repository';
import { PasswordResetsRepository } from './password-resets.repository';
import { keyOfEmail } from './people.repository';

/** Uses up an invitation: it becomes a membership. */
@Injectable()
export class InvitationUse {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly limits: GuessLimits,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError NOT_FOUND, RATE_LIMITED */
  async find(token: string, origin: Origin | undefined): Promise<OpenInvitation> {
    await this.limits.call(origin);
    const key = invitationKeyOf(token);
    const invitation = key && (await this.invitations.find(key));
    if (!invitation) throw gone();
    return invitation;
  }

  /**
   * The caller holds the person's lock, or has just made the person.
   * @throws AppError NOT_FOUND: somebody else has used it; FORBIDDEN: it is for another address; INVALID_BODY
   */
  async use(
    tx: Transaction,
    token: string,
    person: { id: string; email: string },
    origin: Origin | undefined,
  ): Promise<MembershipKey> {
    const invitation = await this.invitations.lock(tx, invitationKeyOf(token)!);
    if (!invitation) throw gone();
    const { tenantId, agentId, id, email } = invitation;
    if (keyOfEmail(email) !== person.email)
      throw new AppError('FORBIDDEN', `This invitation is for ${email}: log in under this address.`);
    if ((await this.memberships.list(tx, person.id)).length >= MAX_MEMBERSHIPS)
      throw AppError.invalidBody('token', `would be one workspace too many: a login has ${MAX_MEMBERSHIPS}`);
    await this.memberships.insert(tx, person.id, { tenantId, agentId });
    await this.invitations.delete(tx, tenantId, id);
    await this.resets.deleteAll(tx, person.id);
    const actor: Actor = { type: 'agent', id: agentId, origin };
    const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
    this.audit.appendPipelined(tx, { ...subject, action: 'agent.invitation_accepted' });
    return { tenantId, agentId };
  }
}

function gone(): AppError {
  return new AppError('NOT_FOUND', 'This link was used, replaced or taken back, or has expired.');
}
