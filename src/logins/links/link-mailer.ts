import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { AppError } from '../../common/app-error';
import { Config } from '../../config/config';
import { Locale } from '../people/person.dto';
import { SentLink } from './link.dto';
import { invitationMail, MailText, resetMail } from './mail-texts';
import { transportOptions } from './mail-transport';

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

/** Parts of nodemailer's errors: its own code, the server's, and the SMTP command. */
interface MailFault {
  code?: string;
  responseCode?: number;
  command?: string;
}

/** Limit of the mails in flight that no request waits for. Further mails are not sent. */
const MAX_IN_BACKGROUND = 50;

/**
 * Makes links of tokens, and mails them where a mail server is configured. The token is the fragment of the
 * address, which browsers send to no server, so no log holds it.
 */
@Injectable()
export class LinkMailer implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LinkMailer.name);
  private readonly inBackground = new Set<Promise<void>>();

  constructor(private readonly config: Config) {}

  /** Reports whether links are mailed. Otherwise they are shown to the manager or operator who made them. */
  get isConfigured(): boolean {
    return this.config.mail !== null;
  }

  /** Waits for the mails in flight. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.inBackground);
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
    await this.send(email, invitationMail(locale, workspaceName, link));
    return { isMailed: true, link: null, expiresAt };
  }

  /**
   * Mails a link that resets a password, and returns how it was sent.
   * @throws AppError UNAVAILABLE: the mail was not sent
   */
  async sendReset({ email, locale }: Reader, { token, expiresAt }: MadeLink): Promise<SentLink> {
    const link = this.resetLink(token);
    if (!this.isConfigured) return { isMailed: false, link, expiresAt };
    await this.send(email, resetMail(locale, link));
    return { isMailed: true, link: null, expiresAt };
  }

  /**
   * Mails a reset without making the request wait, so that the time of its answer does not tell whether the
   * login exists. A mail that fails is logged.
   * @param make makes the link
   */
  sendResetInBackground({ email, locale }: Reader, make: () => Promise<MadeLink>): void {
    if (this.inBackground.size >= MAX_IN_BACKGROUND)
      return this.logger.error({}, 'a mail was not sent: too many are in flight');
    const sending = make()
      .then(({ token }) => this.deliver(email, resetMail(locale, this.resetLink(token))))
      .catch((error: Error) => this.logFailure(error))
      .finally(() => this.inBackground.delete(sending));
    this.inBackground.add(sending);
  }

  private resetLink(token: string): string {
    return `${this.config.appUrl}/reset#${token}`;
  }

  private async send(to: string, text: MailText): Promise<void> {
    try {
      await this.deliver(to, text);
    } catch (error) {
      this.logFailure(error as Error);
      throw AppError.because('UNAVAILABLE', 'mail_failed');
    }
  }

  /** Logs why a mail was not sent, without the server's message: it quotes the recipient. */
  private logFailure({ code, responseCode, command }: Error & MailFault): void {
    this.logger.error({ code, responseCode, command }, 'a mail was not sent');
  }

  private async deliver(to: string, { subject, text }: MailText): Promise<void> {
    const transport = await this.open();
    try {
      // An object is taken as one address; a text with a comma would be two.
      await transport.sendMail({ to: { name: '', address: to }, subject, text });
    } finally {
      transport.close();
    }
  }

  private async open(): Promise<Transporter> {
    const { smtpUrl, from } = this.config.mail!;
    const { createTransport } = await import('nodemailer');
    return createTransport(transportOptions(smtpUrl), { from });
  }
}
