import { Mailbox } from '../support/mailbox';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';

describe('a worker that is killed', () => {
  let mailbox: Mailbox;
  let service: TestService;
  let env: Record<string, string>;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    env = { SMTP_URL: mailbox.url, MAIL_FROM: 'login@example.com', ANSWER_MAIL_SECONDS: '1' };
    service = await TestService.create({ env });
  });
  beforeEach(() => {
    mailbox.mails.length = 0;
    mailbox.fault = null;
    mailbox.onStored = () => Promise.resolve();
  });

  const startWorker = () => ServiceProcess.start('worker', service.stores, env);
  const notices = () =>
    service.query<{ tries: number; isSent: boolean }>(
      'SELECT tries, sent_at IS NOT NULL AS "isSent" FROM answer_notices ORDER BY created_at DESC LIMIT 1',
    );
  /** Ends the lease of a killed worker, whose time would pass by itself. */
  const endLease = () => service.query('UPDATE answer_notices SET due_at = now() WHERE due_at IS NOT NULL');
  const isSent = () => waitFor('the record', async () => (await notices())[0]?.isSent, 60_000);

  /** Makes an answer that a visitor does not read. */
  async function makeUnread(): Promise<void> {
    const tenant = await createTenant(service);
    const visitor = await (await TestWidget.connect(service, tenant.workspace)).visitor();
    await visitor.post('m-1');
    await visitor.send('POST', '/answer-address', { email: 'zoe@example.com', locale: 'en' });
    const { conversationId } = (await visitor.open()).body;
    await tenant.client.post(`/conversations/${conversationId}/messages`, { body: 'Hi' });
  }
  const idsOf = () => mailbox.mails.map(({ source }) => /^Message-ID: (.*)$/m.exec(source)![1]);

  it('after the server has the mail and before its commit, sends it twice with one Message-ID', async () => {
    const worker = await startWorker();
    const killed = new Promise<void>((resolve) => {
      mailbox.onStored = async () => {
        worker.kill('SIGKILL');
        await worker.exited;
        resolve();
      };
    });
    await makeUnread();
    await killed;
    mailbox.onStored = () => Promise.resolve();
    expect(await notices()).toEqual([{ tries: 1, isSent: false }]);
    await startWorker();
    await endLease();
    await isSent();
    expect(mailbox.mails).toHaveLength(2);
    expect(new Set(idsOf()).size).toBe(1);
  }, 120_000);
});
