import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { Mailer } from '../mails/mailer';
import { Locale } from '../people/person.dto';
import { SentLink } from './link.dto';
import { invitationMail, resetMail } from './mail-texts';

/** Link to send: its token, and the time at which it expires. */
export interface MadeLink {
  token: string;
  expiresAt: Date;
}

/** Person who gets a mail. */
interface Reader {
  email: string;
  locale: Locale | null;
}

/**
 * Makes links of tokens, and mails them where a mail server is configured. The token is the fragment of the
 * address, which browsers send to no server, so no log holds it.
 */
@Injectable()
export class LinkMailer {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
  ) {}

  /** Reports whether links are mailed. Otherwise they are shown to the manager or operator who made them. */
  get isConfigured(): boolean {
    return this.mailer.isConfigured;
  }

  /**
   * Mails the link of an invitation, and returns how it was sent.
   * @throws AppError UNAVAILABLE: the mail was not sent
   */
  async sendInvitation(
    { email, workspaceName }: { email: string; workspaceName: string },
    { token, expiresAt }: MadeLink,
    locale?: Locale,
  ): Promise<SentLink> {
    const link = `${this.config.appUrl}/welcome#${token}`;
    if (!this.isConfigured) return { isMailed: false, link, expiresAt };
    await this.mailer.send({ to: email, ...invitationMail(locale, workspaceName, link) });
    return { isMailed: true, link: null, expiresAt };
  }

  /**
   * Mails a link that resets a password, and returns how it was sent.
   * @throws AppError UNAVAILABLE: the mail was not sent
   */
  async sendReset({ email, locale }: Reader, { token, expiresAt }: MadeLink): Promise<SentLink> {
    const link = this.resetLink(token);
    if (!this.isConfigured) return { isMailed: false, link, expiresAt };
    await this.mailer.send({ to: email, ...resetMail(locale, link) });
    return { isMailed: true, link: null, expiresAt };
  }

  /**
   * Mails a reset without making the request wait, so that the time of its answer does not tell whether the
   * login exists.
   * @param make makes the link
   */
  sendResetInBackground({ email, locale }: Reader, make: () => Promise<MadeLink>): void {
    this.mailer.sendInBackground('links', async () => {
      const { token } = await make();
      return { to: email, ...resetMail(locale, this.resetLink(token)) };
    });
  }

  private resetLink(token: string): string {
    return `${this.config.appUrl}/reset#${token}`;
  }
}
