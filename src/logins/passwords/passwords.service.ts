import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor, agentOf, Origin } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { LinkMailer } from '../links/link-mailer';
import { LinkRecipients } from '../links/link-recipients';
import { SentLink } from '../links/link.dto';
import { RenewedSession, SessionHolder } from '../sessions/session.dto';
import { PasswordCheck } from './password-check';
import { ChangePassword, ConfirmPassword, RequestPasswordReset } from './password.dto';
import { PersonPassword } from './person-password';

/** Changes passwords, and sends the links that reset them. `LinksService.accept` takes the new password. */
@Injectable()
export class PasswordsService {
  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly password: PersonPassword,
    private readonly links: LinkMailer,
    private readonly recipients: LinkRecipients,
    private readonly audit: AuditService,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Changes the holder's password. The holder's session goes on under a new token; all others end.
   * @throws AppError INVALID_BODY: a wrong or a bad password; UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async change(holder: SessionHolder, input: ChangePassword): Promise<RenewedSession> {
    const { currentPassword, newPassword } = validate(ChangePassword, input);
    const checked = await this.check.requireOwn(holder, currentPassword, 'currentPassword');
    const hash = await this.check.hashNew(newPassword, checked.email, 'newPassword', holder.origin);
    return this.database.transaction((tx) => this.password.change(tx, holder, checked, hash));
  }

  /**
   * Checks the holder's password, for an act of the host's own that can't be undone. Wrong ones are counted.
   * @throws AppError INVALID_BODY: a wrong password; RATE_LIMITED, UNAVAILABLE
   */
  async confirm(holder: SessionHolder, input: ConfirmPassword): Promise<void> {
    const { password } = validate(ConfirmPassword, input);
    await this.check.requireOwn(holder, password, 'password');
  }

  /**
   * Mails a link to the person of an e-mail address. For an unknown address the answer is the same and takes
   * the same time. The mail is sent in the background; a failure is logged.
   * @throws AppError INVALID_BODY, RATE_LIMITED; FORBIDDEN: this service sends no mail, so a manager or the
   *   operator makes the link
   */
  async requestReset(input: RequestPasswordReset, origin?: Origin): Promise<void> {
    const { email } = validate(RequestPasswordReset, input);
    if (!this.links.isConfigured) throw AppError.because('FORBIDDEN', 'no_mail');
    const person = await this.check.findForReset(email, origin);
    if (!person) return;
    this.links.sendResetInBackground(person, () =>
      this.database.transaction((tx) => this.password.makeReset(tx, person.id)),
    );
  }

  /**
   * Makes a link, for a workspace's manager, that resets the password of an agent's login. It works once, for
   * 24 hours, unless the role or the activity of the agent or of the manager changes. It is mailed when a
   * mail server is configured. Otherwise the result holds it, but only for a login without other workspaces,
   * because the link would open those too.
   * @throws AppError FORBIDDEN, also for a login with other workspaces; INVALID_BODY: the agent has no login;
   *   NOT_FOUND, RATE_LIMITED; UNAVAILABLE: the mail was not sent
   */
  async sendReset(tenantId: string, agentId: string, actor: Actor): Promise<SentLink> {
    const reset = await this.database.transaction(async (tx) => {
      const personId = await this.recipients.lock(tx, tenantId, agentId, actor, 'agent.reset_password');
      if (!personId) throw AppError.invalidBody('agent', 'login_missing');
      const grant = { tenantId, agentId, madeBy: agentOf(actor) };
      const made = await this.password.makeReset(tx, personId, grant);
      if (!this.links.isConfigured) await this.recipients.requireOneWorkspace(tx, personId);
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.password_reset_sent' });
      return made;
    });
    return this.budgets.waitOutside('mails', tenantId, () => this.links.sendReset(reset.person, reset));
  }
}
