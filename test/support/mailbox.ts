import { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { waitFor } from './wait';
import { forgetStop, stopAtEnd } from './stop-at-end';

export interface ReceivedMail {
  from: string;
  to: string[];
  subject: string;
  text: string;
  /** Source of the mail as received. */
  source: string;
}

/**
 * Fault of a mail server: it does not know the recipient; refuses the text; asks to come again later; is
 * silent; says a piece of a line every second; or ends the connection in the middle of a mail.
 */
export type MailFault = 'unknown' | 'refuses' | 'greylists' | 'hangs' | 'drips' | 'takes half';

/** Mail server that records the mails it gets. */
export class Mailbox {
  readonly mails: ReceivedMail[] = [];
  /** Reason with which each mail is refused; null to accept mails. */
  refusal: string | null = null;
  fault: MailFault | null = null;
  /** Number of recipients that were named to the server, whatever it said. */
  recipients = 0;
  /** Called when a mail is stored, before the server says so. */
  onStored: () => Promise<void> = () => Promise.resolve();

  private constructor(private readonly server: SMTPServer) {}

  static async start(): Promise<Mailbox> {
    const mailbox: Mailbox = new Mailbox(
      new SMTPServer({
        authOptional: true,
        disabledCommands: ['STARTTLS'],
        logger: false,
        onRcptTo: (_, __, done) => {
          mailbox.recipients++;
          if (mailbox.fault === 'hangs') return;
          if (mailbox.fault === 'drips') return mailbox.drip();
          if (mailbox.fault === 'unknown') return done(answer(550, 'no such user'));
          if (mailbox.fault === 'greylists') return done(answer(451, 'come again later'));
          done(mailbox.refusal === null ? null : new Error(mailbox.refusal));
        },
        onData: (stream, { envelope }, done) => {
          if (mailbox.fault === 'takes half') return void stream.once('data', () => mailbox.cut());
          if (mailbox.fault === 'refuses') {
            stream.resume();
            return void stream.on('end', () => done(answer(554, 'not wanted')));
          }
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            const from = envelope.mailFrom ? envelope.mailFrom.address : '';
            const to = envelope.rcptTo.map(({ address }) => address);
            mailbox.mails.push({ from, to, ...parse(Buffer.concat(chunks).toString('utf8')) });
            void mailbox.onStored().then(() => done());
          });
        },
      }),
    );
    await new Promise<void>((resolve) => mailbox.server.listen(0, '127.0.0.1', resolve));
    return stopAtEnd(mailbox, () => mailbox.stop());
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.server.address() as AddressInfo).port}`;
  }

  /** Waits for the next mail to an address. */
  async next(to: string): Promise<ReceivedMail> {
    const at = await waitFor(
      `a mail to ${to}`,
      () => this.mails.findIndex((mail) => mail.to.includes(to)) + 1,
    );
    return this.mails.splice(at - 1, 1)[0]!;
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.sockets()) socket.destroy();
  }

  /** Sends a piece of an answer that never ends, every second. */
  private drip(): void {
    const [socket] = this.sockets();
    const timer = setInterval(() => socket!.write('2'), 1_000);
    socket!.once('close', () => clearInterval(timer));
    socket!.on('error', () => undefined);
  }

  private sockets(): Socket[] {
    const { connections } = this.server as unknown as { connections: Set<{ _socket: Socket }> };
    return [...connections].map(({ _socket }) => _socket);
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    await new Promise<void>((resolve) => this.server.close(resolve));
  }
}

/** Returns an error with which the server answers. */
function answer(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Parses a plain mail in the encoding that nodemailer uses. */
function parse(source: string): Pick<ReceivedMail, 'subject' | 'text' | 'source'> {
  const end = source.indexOf('\r\n\r\n');
  const head = source.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1] ?? '';
  const body = source.slice(end + 4);
  const encoding = header('Content-Transfer-Encoding').toLowerCase();
  const text =
    encoding === 'quoted-printable'
      ? fromQuotedPrintable(body)
      : encoding === 'base64'
        ? Buffer.from(body, 'base64').toString('utf8')
        : body;
  return { subject: decodeWords(header('Subject')), text: text.replaceAll('\r\n', '\n'), source };
}

function fromQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString('utf8')
        : fromQuotedPrintable(word.replaceAll('_', ' ')),
    );
}
