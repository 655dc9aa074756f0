import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { Mail, Mailer } from '../../mails/mailer';
import { Locale } from '../people/person.dto';
import { SentLink } from './link.dto';
import { invitationMail, resetMail } from './mail-texts';

export interface MadeLink {
  token: string;
  expiresAt: Date;
}

interface Reader {
  email: string;
  locale: Locale | null;
}

/**
 * Makes links that contain tokens, and mails them if a mail server is configured. The token is in the
 * fragment of the URL, which browsers send to no server, so no log contains a token.
 */
@Injectable()
export class LinkMailer {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly budgets: WorkBudgets,
  ) {}

  /** Reports whether links are mailed. Otherwise they are shown to the manager or operator who made them. */
  get isConfigured(): boolean {
    return this.mailer.isConfigured;
  }

  /**
   * Mails the link of an invitation, and returns how it was sent.
   * @throws AppError UNAVAILABLE: the mail was not sent; RATE_LIMITED: the workspace sends too many mails at
   *   once
   */
  sendInvitation(
    { tenantId, email, workspaceName }: { tenantId: string; email: string; workspaceName: string },
    { token, expiresAt }: MadeLink,
    locale?: Locale,
  ): Promise<SentLink> {
    const link = `${this.config.appUrl}/welcome#${token}`;
    return this.send(
      { to: email, ...invitationMail(locale, workspaceName, link) },
      link,
      expiresAt,
      tenantId,
    );
  }

  /**
   * Mails a link that resets a password, and returns how it was sent.
   * @param tenantId workspace whose manager sends the link; null if an operator sends it
   * @throws AppError as `sendInvitation`
   */
  sendReset(
    { person: { email, locale }, token, expiresAt }: MadeLink & { person: Reader },
    tenantId: string | null,
  ): Promise<SentLink> {
    const link = this.resetLink(token);
    return this.send({ to: email, ...resetMail(locale, link) }, link, expiresAt, tenantId);
  }

  /**
   * Makes and mails a link that resets a password. The request does not wait, so the time of its answer does
   * not tell whether the login exists.
   */
  sendResetInBackground({ email, locale }: Reader, make: () => Promise<MadeLink>): void {
    this.mailer.sendInBackground('links', async () => {
      const { token } = await make();
      return { to: email, ...resetMail(locale, this.resetLink(token)) };
    });
  }

  private async send(mail: Mail, link: string, expiresAt: Date, tenantId: string | null): Promise<SentLink> {
    if (!this.isConfigured) return { isMailed: false, link, expiresAt };
    const send = () => this.mailer.send(mail);
    await (tenantId === null ? send() : this.budgets.waitOutside('mails', tenantId, send));
    return { isMailed: true, link: null, expiresAt };
  }

  private resetLink(token: string): string {
    return `${this.config.appUrl}/reset#${token}`;
  }
}
