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

/** Invitation that can be accepted. */
export interface InvitationLink {
  kind: 'invitation';
  key: InvitationKey;
  invitation: OpenInvitation;
  /**
   * Whether the e-mail address has a login, to which `InvitationAcceptance.join` adds the workspace. Without
   * one, `InvitationAcceptance.makeLogin` makes a login.
   */
  needsLogin: boolean;
  /** Whether the person who accepts must set a new password. */
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

  /** Finds the invitation of a token; null if no invitation that can be accepted has the token. */
  async find(token: string): Promise<InvitationLink | null> {
    const key = parseInvitationToken(token);
    const invitation = key && (await this.invitations.find(key));
    if (!invitation) return null;
    const needsLogin = (await this.people.findByEmail(invitation.email)) !== null;
    const needsPassword = !needsLogin || !this.links.isConfigured;
    return { kind: 'invitation', key, invitation, needsLogin, needsPassword };
  }

  /**
   * Locks an invitation together with its agents. Call it before the person is locked.
   * @throws AppError NOT_FOUND: another request has used the invitation
   */
  async lock(tx: Transaction, key: InvitationKey): Promise<OpenInvitation> {
    const invitation = await this.invitations.lock(tx, key);
    if (!invitation) throw linkGone();
    return invitation;
  }

  /**
   * Uses up a locked invitation. The transaction holds the person's lock, or has just inserted the person.
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
