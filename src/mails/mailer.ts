import { connect, Socket } from 'node:net';
import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { parseAddress, unmapped } from '../common/network';
import { Config } from '../config/config';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** Name of the sender beside the service's address for notices; left out for mails about logins. */
  senderName?: string;
  /** Id of the mail without its domain. A mail that is sent again has the same id. */
  id?: string;
  /** Address that ends such mails by one POST without a login (RFC 8058); of a notice alone. */
  endUrl?: string;
}

/**
 * Result of one try: the server has taken the mail, or has refused its recipient or the mail for good, or the
 * mail can be sent again later.
 */
export type MailOutcome = 'sent' | 'no_such_recipient' | 'refused' | 'failed';

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
/** Longest time of a mail in milliseconds, because a server that is slow in each step never times out. */
const MAIL_MS = 30_000;
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

  /** Sends a notice once. Never rejects, and takes no longer than 30 s. */
  async trySending(mail: Mail): Promise<MailOutcome> {
    try {
      await this.deliver(mail);
      return 'sent';
    } catch (error) {
      this.logFailure(error as Error);
      return outcomeOf(error as MailFault);
    }
  }

  /** Logs why a mail was not sent. It leaves out the server's message, which quotes the recipient. */
  private logFailure({ code, responseCode, command }: Error & MailFault): void {
    this.logger.error({ code, responseCode, command }, 'a mail was not sent');
  }

  private async deliver({ to, subject, text, senderName, id, endUrl }: Mail): Promise<void> {
    const { smtpUrl, from } = this.config.mail!;
    const { createTransport } = await import('nodemailer');
    const sockets = new BoundedSockets();
    const transport = createTransport({ ...transportOptions(smtpUrl), getSocket: sockets.open }, { from });
    try {
      // The recipient is an object, because nodemailer splits a string at commas into several addresses.
      const mail = { to: { name: '', address: to }, subject, text };
      if (senderName === undefined) await transport.sendMail(mail);
      else await transport.sendMail({ ...mail, ...noticeFields(from, senderName, id!, endUrl) });
    } finally {
      sockets.destroy();
      transport.close();
    }
  }
}

/** Opens the connection of one mail, and ends it after 30 s. */
class BoundedSockets {
  private socket: Socket | null = null;
  private timer: NodeJS.Timeout | undefined;

  readonly open = (
    { host, port, secure }: { host?: string; port?: number | string; secure?: boolean },
    done: (error: Error | null, options?: { connection: Socket }) => void,
  ): void => {
    const socket = connect({ host: host ?? 'localhost', port: Number(port ?? (secure ? 465 : 587)) });
    this.socket = socket;
    const fail = (error: Error) => done(error);
    const late = setTimeout(() => socket.destroy(new Error('The server took no connection')), TIMEOUT_MS);
    // Without a listener, an error after the connection would end the process.
    socket.on('error', () => undefined);
    this.timer = setTimeout(() => socket.destroy(new Error('The mail took too long')), MAIL_MS);
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      clearTimeout(late);
      done(null, { connection: socket });
    });
    socket.once('close', () => clearTimeout(late));
  };

  destroy(): void {
    clearTimeout(this.timer);
    this.socket?.destroy();
  }
}

/** Returns the fields of a notice. Its address says that answers to it are not read. */
function noticeFields(from: string, name: string, id: string, endUrl?: string) {
  const address = /<([^>]+)>\s*$/.exec(from)?.[1] ?? from;
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return {
    from: { name: plainText(name), address: `no-reply@${domain}` },
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', ...(endUrl && endHeaders(endUrl)) },
  };
}

/** Returns the headers by which mail programs end such mails. A program trusts only an https address. */
function endHeaders(url: string) {
  const header = { 'List-Unsubscribe': `<${url}>` };
  if (!url.startsWith('https:')) return header;
  return { ...header, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** Tells the refusal of a mail or of its recipient from faults of the server and of its settings. */
function outcomeOf({ responseCode = 0, command }: MailFault): MailOutcome {
  if (responseCode < 500) return 'failed';
  if (command === 'RCPT TO') return 'no_such_recipient';
  return command === 'DATA' ? 'refused' : 'failed';
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
