import { Injectable } from '@nestjs/common';
import { requireOwner, requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor, agentOf } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { LinkMailer } from '../links/link-mailer';
import { LinkRecipients } from '../links/link-recipients';
import { newInvitationToken } from '../people/login-tokens';
import { InvitationSummary, InviteAgent, SentInvitation } from './invitation.dto';
import { InvitationsRepository, OpenInvitation } from './invitations.repository';

/** Invites a workspace's agents to log in. The invited person calls `LinksService.accept`. */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationsRepository,
    private readonly links: LinkMailer,
    private readonly recipients: LinkRecipients,
    private readonly audit: AuditService,
  ) {}

  /**
   * Invites an active agent who has no login yet. The link works once, for 24 hours, and replaces an earlier
   * link. The link ends when the invited or the inviting agent gets another role, or is deactivated. If a
   * mail server is configured, the link is mailed; otherwise the result contains the link, to be handed over.
   * @throws AppError INVALID_BODY: the agent is inactive, a bot, or has a login; FORBIDDEN, NOT_FOUND,
   *   RATE_LIMITED; UNAVAILABLE: the mail was not sent, so invite again
   */
  async invite(tenantId: string, agentId: string, input: InviteAgent, actor: Actor): Promise<SentInvitation> {
    const { locale } = validate(InviteAgent, input);
    const { token, hash } = newInvitationToken(tenantId);
    const invitation = await this.database.transaction(async (tx) => {
      const personId = await this.recipients.lock(tx, tenantId, agentId, actor, 'agent.invite');
      if (personId) throw AppError.invalidBody('agent', 'login_exists');
      const made = await this.invitations.replace(tx, { tenantId, hash }, agentId, agentOf(actor));
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.invited' });
      return made;
    });
    const { expiresAt } = invitation;
    const sent = await this.links.sendInvitation(invitation, { token, expiresAt }, locale);
    return { invitation: toSummary(invitation), ...sent };
  }

  /**
   * Lists the invitations that can be accepted, oldest first.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<InvitationSummary[]> {
    await requireReadPermission(this.database, tenantId, actor, 'invitation.read');
    return (await this.invitations.list(tenantId)).map(toSummary);
  }

  /**
   * Takes an invitation back. Its link stops working.
   * @throws AppError FORBIDDEN: the actor lacks the permission, or is no OWNER while the invited agent is
   *   one; NOT_FOUND
   */
  async revoke(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'agent.invite');
      const invited = await this.invitations.delete(tx, tenantId, id);
      if (!invited) throw AppError.notFound('Invitation');
      if (invited.role === 'OWNER') await requireOwner(tx, tenantId, actor);
      const subject = { tenantId, actor, entity: 'agent', entityId: invited.agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.invitation_revoked' });
    });
  }
}

function toSummary(invitation: OpenInvitation): InvitationSummary {
  const { id, agentId, agentName, email, role, createdAt, expiresAt } = invitation;
  return { id, agentId, agentName, email, role, createdAt, expiresAt };
}
