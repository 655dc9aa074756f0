import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { AppError } from '../../common/app-error';
import { parseAddress, unmapped } from '../../common/network';
import { Config } from '../../config/config';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Fields of nodemailer's errors: nodemailer's code, the server's code, and the SMTP command. */
interface MailFault {
  code?: string;
  responseCode?: number;
  command?: string;
}

/** Kind of mail that no request waits for: links that people ask for, and notices of changed logins. */
export type BackgroundKind = 'links' | 'notices';

/**
 * Limit of the mails of one kind that are sent in the background at the same time. Further mails are not
 * sent. Each kind has its own limit, because every visitor can ask for links: a flood of links must hold up
 * no notice.
 */
const MAX_IN_BACKGROUND = 50;
const TIMEOUT_MS = 10_000;
/**
 * Limit of the characters of a name in a mail. Strangers can choose a name, and the name must not look like a
 * part of the mail.
 */
const MAX_NAME = 80;

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

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.inBackground).flatMap((mails) => [...mails]));
  }

  /** @throws AppError UNAVAILABLE: the mail was not sent */
  async send(mail: Mail): Promise<void> {
    try {
      await this.deliver(mail);
    } catch (error) {
      this.logFailure(error as Error);
      throw AppError.because('UNAVAILABLE', 'mail_failed');
    }
  }

  /**
   * Sends a mail in the background. A failure is logged.
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

  /** Logs why a mail was not sent. It leaves out the server's message, which quotes the recipient. */
  private logFailure({ code, responseCode, command }: Error & MailFault): void {
    this.logger.error({ code, responseCode, command }, 'a mail was not sent');
  }

  private async deliver({ to, subject, text }: Mail): Promise<void> {
    const transport = await this.open();
    try {
      // nodemailer takes an object for one address, and a text with a comma for two.
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

/**
 * Returns nodemailer's options for a mail server. Mails are encrypted, because a link is as good as a
 * password: a server without STARTTLS gets none. Exceptions are this machine, and a URL that says
 * `?requireTLS=false`.
 */
export function transportOptions(smtpUrl: string) {
  return {
    url: smtpUrl,
    requireTLS: !isThisMachine(new URL(smtpUrl).hostname),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  };
}

function isThisMachine(host: string): boolean {
  const address = parseAddress(host.replace(/^\[|\]$/g, ''));
  return address ? unmapped(address).range() === 'loopback' : host === 'localhost';
}

/** Returns a name in one line, cut, without characters from which mail programs make a link. */
export function plainText(name: string): string {
  const line = name
    .replace(/\s+/gu, ' ')
    .replace(/(?:https?:)?\/\//gi, '')
    .trim();
  return [...line].slice(0, MAX_NAME).join('');
}
