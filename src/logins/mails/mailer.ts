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

/** Mails for which no request waits: links that people requested, and notices about changes of a login. */
export type BackgroundKind = 'links' | 'notices';

/**
 * Limit of the mails of one kind that are being sent in the background; further ones are dropped. Each kind
 * has its own limit, because any visitor can request links, and a flood of them must not block notices.
 */
const MAX_IN_BACKGROUND = 50;
const TIMEOUT_MS = 10_000;
/** Longest name in a mail, in characters, because a stranger's long name could pass for the mail's text. */
const MAX_NAME = 80;

/** Sends mails through the configured SMTP server. Check `isConfigured` before a call. */
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
   * Sends a mail without making the caller wait. A failure is only logged.
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
      // The recipient is an object, because nodemailer splits a string at commas into several addresses.
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
 * Returns nodemailer's options for a mail server. Only encrypted connections are used (TLS or STARTTLS),
 * because a link in a mail is as good as a password. Exceptions: a server on this machine, and a URL with
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

/** Returns a name in one line of at most 80 characters, without the `https://` or `//` of a link. */
export function plainText(name: string): string {
  const line = name
    .replace(/\s+/gu, ' ')
    .replace(/(?:https?:)?\/\//gi, '')
    .trim();
  return [...line].slice(0, MAX_NAME).join('');
}
