import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor, agentOf, Origin } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { LinkMailer } from '../links/link-mailer';
import { LinkRecipients } from '../links/link-recipients';
import { linkGone, PasswordSet, SentLink } from '../links/link.dto';
import { parseToken } from '../people/login-tokens';
import { PersonRow } from '../people/people.repository';
import { RenewedSession, SessionHolder } from '../sessions/session.dto';
import { PasswordCheck } from './password-check';
import { ChangePassword, ConfirmPassword, RequestPasswordReset } from './password.dto';
import { PersonPassword } from './person-password';

export interface ResetLink {
  kind: 'reset';
  hash: Buffer;
  person: PersonRow;
}

/** Changes passwords, and sends the links that reset them. `LinksService` describes and accepts the links. */
@Injectable()
export class PasswordsService {
  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly password: PersonPassword,
    private readonly links: LinkMailer,
    private readonly recipients: LinkRecipients,
    private readonly audit: AuditService,
  ) {}

  /**
   * Changes the holder's password. The session continues under a new token; the person's other sessions end.
   * @throws AppError INVALID_BODY: the current password is wrong, or the policy refuses the new one;
   *   UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async change(holder: SessionHolder, input: ChangePassword): Promise<RenewedSession> {
    const { currentPassword, newPassword } = validate(ChangePassword, input);
    const checked = await this.check.requireOwn(holder, currentPassword, 'currentPassword');
    const hash = await this.check.hashNew(newPassword, checked.email, 'newPassword', holder.origin);
    return this.database.transaction((tx) => this.password.change(tx, holder, checked, hash));
  }

  /**
   * Checks the holder's password, for example before an act that can't be undone. Wrong passwords count
   * against a limit.
   * @throws AppError INVALID_BODY: the password is wrong; RATE_LIMITED, UNAVAILABLE
   */
  async confirm(holder: SessionHolder, input: ConfirmPassword): Promise<void> {
    const { password } = validate(ConfirmPassword, input);
    await this.check.requireOwn(holder, password, 'password');
  }

  /**
   * Mails a link that resets the password to the person of an e-mail address. Neither the answer nor its time
   * reveals whether the address has a login. The mail is sent in the background; a failure is logged.
   * @throws AppError INVALID_BODY, RATE_LIMITED; FORBIDDEN: no mail server is configured, so a manager or an
   *   operator must make the link
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
   * Makes a link that resets the password of an agent's login, for a manager of the workspace. The link works
   * once, for 24 hours, and ends if the agent or the manager gets another role or is deactivated. If a mail
   * server is configured, the link is mailed. Otherwise the result contains the link, and a login with other
   * workspaces is refused, because the link would open these as well.
   * @throws AppError FORBIDDEN: the actor lacks the permission, or the login has other workspaces;
   *   INVALID_BODY: the agent has no login; NOT_FOUND, RATE_LIMITED; UNAVAILABLE: the mail was not sent
   */
  async sendReset(tenantId: string, agentId: string, actor: Actor): Promise<SentLink> {
    const reset = await this.database.transaction(async (tx) => {
      const personId = await this.recipients.lock(tx, tenantId, agentId, actor, 'agent.reset_password');
      if (!personId) throw AppError.invalidBody('agent', 'login_missing');
      const grant = { tenantId, agentId, madeBy: agentOf(actor) };
      const made = await this.password.makeReset(tx, personId, { grant });
      if (!this.links.isConfigured) await this.recipients.requireOneWorkspace(tx, personId);
      const subject = { tenantId, actor, entity: 'agent', entityId: agentId };
      this.audit.appendPipelined(tx, { ...subject, action: 'agent.password_reset_sent' });
      return made;
    });
    return this.links.sendReset(reset, tenantId);
  }

  /**
   * Finds the link with a token; null if no working link has the token.
   * @internal
   */
  async findReset(token: string): Promise<ResetLink | null> {
    const hash = parseToken(token);
    const person = hash && (await this.database.transaction((tx) => this.password.findByReset(tx, hash)));
    return person && { kind: 'reset', hash, person };
  }

  /**
   * Sets a new password with a link, and ends all sessions of the person. A second factor stays on.
   * @throws AppError INVALID_BODY: the policy refuses the password; NOT_FOUND: the link has ended since it
   *   was found; RATE_LIMITED, UNAVAILABLE
   * @internal
   */
  async acceptReset(
    { hash, person }: ResetLink,
    password = '',
    origin: Origin | undefined,
  ): Promise<PasswordSet> {
    const passwordHash = await this.check.hashNew(password, person.email, 'password', origin);
    const isSet = await this.database.transaction((tx) =>
      this.password.reset(tx, person.id, hash, passwordHash, origin),
    );
    if (!isSet) throw linkGone();
    return { status: 'password_set' };
  }
}
