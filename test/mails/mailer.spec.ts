import { Config } from '../../src/config/config';
import { Mailer } from '../../src/mails/mailer';
import { Mailbox, MailFault } from '../support/mailbox';

/** Configuration of a sender; the rest of it is not read. */
const configOf = (smtpUrl: string) =>
  ({ mail: { smtpUrl, from: 'Acme Login <login@example.com>' } }) as unknown as Config;

describe('a mail of a notice', () => {
  let mailbox: Mailbox;
  let mailer: Mailer;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    mailer = new Mailer(configOf(mailbox.url));
  });
  beforeEach(() => (mailbox.fault = null));

  const send = (more: object = {}) =>
    mailer.trySending({
      to: 'zoe@example.com',
      subject: 'Hi',
      text: 'Hello',
      senderName: 'Acme',
      id: 'n-1',
      ...more,
    });

  it('has an address that nobody reads, the name of the workspace, and the id of the notice', async () => {
    expect(await send({ senderName: 'Acme, Inc. https://evil.example\r\nBcc: x@example.com' })).toBe('sent');
    const { from, source } = await mailbox.next('zoe@example.com');
    expect(from).toBe('no-reply@example.com');
    expect(source).toContain('Message-ID: <n-1@example.com>');
    expect(source).toContain('Auto-Submitted: auto-generated');
    expect(source).toMatch(/^From: "Acme, Inc\. evil\.example Bcc: x@example\.com" <no-reply@example\.com>/m);
    expect(source).not.toMatch(/^Bcc:/m);
  });

  it.each([
    ['https://service.example/end/t', 'List-Unsubscribe=One-Click'],
    ['http://localhost:3000/end/t', undefined],
  ])('can be ended at %s, and by one press where the address is https', async (endUrl, press) => {
    expect(await send({ endUrl })).toBe('sent');
    const { source } = await mailbox.next('zoe@example.com');
    expect(/^List-Unsubscribe:\s+<(\S+)>/m.exec(source)![1]).toBe(endUrl);
    expect(/^List-Unsubscribe-Post: (\S+)/m.exec(source)?.[1]).toBe(press);
  });

  it.each<[MailFault, string]>([
    ['unknown', 'no_such_recipient'],
    ['refuses', 'refused'],
    ['greylists', 'failed'],
    ['hangs', 'failed'],
    ['drips', 'failed'],
    ['takes half', 'failed'],
  ])(
    'to a server that %s is %s',
    async (fault, outcome) => {
      mailbox.fault = fault;
      expect(await send()).toBe(outcome);
      expect(mailbox.mails).toEqual([]);
    },
    60_000,
  );

  it('to a server that is away has failed', async () => {
    const away = new Mailer(configOf('smtp://127.0.0.1:9'));
    const mail = { to: 'zoe@example.com', subject: 'Hi', text: 'Hello', senderName: 'Acme', id: 'n-2' };
    expect(await away.trySending(mail)).toBe('failed');
  });
});
