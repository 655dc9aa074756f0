import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { AppError } from '../common/app-error';
import { Config } from '../config/config';
import { MailText } from './mail-texts';

const TIMEOUT_MS = 10_000;
/** Mails that nobody waits for. More are not sent. */
const MAX_IN_BACKGROUND = 50;

/** Sends plain mails over SMTP, where one is configured. */
@Injectable()
export class Mailer implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Mailer.name);
  private readonly inBackground = new Set<Promise<void>>();

  constructor(private readonly config: Config) {}

  get isConfigured(): boolean {
    return this.config.mail !== null;
  }

  /** Waits for what was begun. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.inBackground);
  }

  /** @throws AppError UNAVAILABLE: the SMTP server did not take it */
  async send(to: string, text: MailText): Promise<void> {
    try {
      await this.deliver(to, text);
    } catch (error) {
      this.logger.error({ err: error as Error }, 'a mail was not sent');
      throw new AppError('UNAVAILABLE', 'The mail could not be sent. Try again in a few minutes.');
    }
  }

  /**
   * Nobody waits for it: the time of an answer says nothing. One that fails is asked for again by its reader.
   * @param prepare makes the mail
   */
  sendInBackground(prepare: () => Promise<{ to: string; text: MailText }>): void {
    if (this.inBackground.size >= MAX_IN_BACKGROUND)
      return this.logger.error({}, 'a mail was not sent: too many are in flight');
    const sending = prepare()
      .then(({ to, text }) => this.deliver(to, text))
      .catch((error: Error) => this.logger.error({ err: error }, 'a mail was not sent'))
      .finally(() => this.inBackground.delete(sending));
    this.inBackground.add(sending);
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
    const timeouts = {
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      dnsTimeout: TIMEOUT_MS,
    };
    return createTransport({ url: smtpUrl, ...timeouts }, { from });
  }
}
