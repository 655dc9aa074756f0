import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor, Origin } from '../../access/principal';
import { AgentKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { LinkMailer } from '../links/link-mailer';
import { linkGone } from '../links/link.dto';
import { PasswordResetsRepository } from '../passwords/password-resets.repository';
import { InvitationKey, parseInvitationToken } from '../people/login-tokens';
import { MAX_MEMBERSHIPS, MembershipsRepository } from '../people/memberships.repository';
import { normalizeEmail, PeopleRepository } from '../people/people.repository';
import { InvitationsRepository, OpenInvitation } from './invitations.repository';

export interface InvitationLink {
  kind: 'invitation';
  key: InvitationKey;
  invitation: OpenInvitation;
  /** Whether the e-mail address has a login. `join` is for addresses with a login, `makeLogin` for others. */
  needsLogin: boolean;
  needsPassword: boolean;
}

/** Finds invitations by their tokens, and turns them into memberships. */
@Injectable()
export class InvitationUse {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly people: PeopleRepository,
    private readonly memberships: MembershipsRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly links: LinkMailer,
    private readonly audit: AuditService,
  ) {}

  async find(token: string): Promise<InvitationLink | null> {
    const key = parseInvitationToken(token);
    const invitation = key && (await this.invitations.find(key));
    if (!invitation) return null;
    const needsLogin = (await this.people.findByEmail(invitation.email)) !== null;
    const needsPassword = !needsLogin || !this.links.isConfigured;
    return { kind: 'invitation', key, invitation, needsLogin, needsPassword };
  }

  /**
   * Locks the rows of an invitation, of the invited agent and of the agent who invites. To avoid deadlocks,
   * the caller may lock the person's row only after this call.
   * @throws AppError NOT_FOUND: the invitation can't be accepted any more
   */
  async lock(tx: Transaction, key: InvitationKey): Promise<OpenInvitation> {
    const invitation = await this.invitations.lock(tx, key);
    if (!invitation) throw linkGone();
    return invitation;
  }

  /**
   * Adds the membership of a locked invitation, and deletes the invitation and the person's links that reset
   * the password. The transaction must hold the lock on the person's row, or have inserted the row.
   * @throws AppError FORBIDDEN: the invitation is for another e-mail address; INVALID_BODY: the person has
   *   100 workspaces
   */
  async use(
    tx: Transaction,
    { tenantId, agentId, id, email }: OpenInvitation,
    person: { id: string; email: string },
    origin: Origin | undefined,
  ): Promise<AgentKey> {
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
