import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { AppError } from '../../common/app-error';
import { Config } from '../../config/config';
import { transportOptions } from './mail-transport';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Parts of nodemailer's errors: its own code, the server's, and the SMTP command. */
interface MailFault {
  code?: string;
  responseCode?: number;
  command?: string;
}

/** Kind of mail that no request waits for: links that people ask for, and notices of what changed. */
export type BackgroundKind = 'links' | 'notices';

/**
 * Limit of the mails of one kind in flight that no request waits for. Further ones are not sent. Each kind
 * has its own, so that a flood of links, which anybody can ask for, keeps no notice from being sent.
 */
const MAX_IN_BACKGROUND = 50;

/** Sends mails where a mail server is configured. */
@Injectable()
export class Mailer implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Mailer.name);
  private readonly inBackground: Record<BackgroundKind, Set<Promise<void>>> = {
    links: new Set(),
    notices: new Set(),
  };

  constructor(private readonly config: Config) {}

  get isConfigured(): boolean {
    return this.config.mail !== null;
  }

  /** Waits for the mails in flight. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.inBackground).flatMap((mails) => [...mails]));
  }

  /**
   * Sends a mail.
   * @throws AppError UNAVAILABLE: the mail was not sent
   */
  async send(mail: Mail): Promise<void> {
    try {
      await this.deliver(mail);
    } catch (error) {
      this.logFailure(error as Error);
      throw AppError.because('UNAVAILABLE', 'mail_failed');
    }
  }

  /**
   * Sends a mail without making a request wait. A failure is logged.
   * @param make returns the mail; null if none is to be sent
   */
  sendInBackground(kind: BackgroundKind, make: () => Promise<Mail | null>): void {
    const inBackground = this.inBackground[kind];
    if (inBackground.size >= MAX_IN_BACKGROUND)
      return this.logger.error({ kind }, 'a mail was not sent: too many are in flight');
    const sending = make()
      .then((mail) => mail && this.deliver(mail))
      .catch((error: Error) => this.logFailure(error))
      .then(() => void inBackground.delete(sending));
    inBackground.add(sending);
  }

  /** Logs why a mail was not sent, without the server's message: it quotes the recipient. */
  private logFailure({ code, responseCode, command }: Error & MailFault): void {
    this.logger.error({ code, responseCode, command }, 'a mail was not sent');
  }

  private async deliver({ to, subject, text }: Mail): Promise<void> {
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
