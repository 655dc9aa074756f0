import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor, Origin } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { linkGone } from '../links/link.dto';
import { PasswordResetsRepository } from '../passwords/password-resets.repository';
import { InvitationKey } from '../people/login-tokens';
import { MAX_MEMBERSHIPS, MembershipKey, MembershipsRepository } from '../people/memberships.repository';
import { normalizeEmail } from '../people/people.repository';
import { InvitationsRepository, OpenInvitation } from './invitations.repository';

/** Turns an invitation into a membership. */
@Injectable()
export class InvitationUse {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Locks an invitation together with its agents, before the person is locked.
   * @throws AppError NOT_FOUND: another request has used it
   */
  async lock(tx: Transaction, key: InvitationKey): Promise<OpenInvitation> {
    const invitation = await this.invitations.lock(tx, key);
    if (!invitation) throw linkGone();
    return invitation;
  }

  /**
   * Uses up a locked invitation. The transaction holds the person's lock, or has just inserted the person.
   * @throws AppError FORBIDDEN: it is for another e-mail address; INVALID_BODY: the person has 100 workspaces
   */
  async use(
    tx: Transaction,
    { tenantId, agentId, id, email }: OpenInvitation,
    person: { id: string; email: string },
    origin: Origin | undefined,
  ): Promise<MembershipKey> {
    if (normalizeEmail(email) !== person.email)
      throw AppError.because('FORBIDDEN', 'invitation_of_other', { email });
    if ((await this.memberships.count(tx, person.id)) >= MAX_MEMBERSHIPS)
      throw AppError.invalidBody('token', 'too_many_workspaces', { max: MAX_MEMBERSHIPS });
    await this.memberships.insert(tx, person.id, { tenantId, agentId });
    await this.invitations.delete(tx, tenantId, id);
    await this.resets.deleteAll(tx, person.id);
    const actor: Actor = { type: 'agent', id: agentId, origin };
    const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
    this.audit.appendPipelined(tx, { ...subject, action: 'agent.invitation_accepted' });
    return { tenantId, agentId };
  }
}
