import { AlertWriter } from '../../src/alerts/alert-writer';
import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { NoticeChoicesService } from '../../src/notices/agents/notice-choices.service';
import { Logins } from '../support/logins';
import { Mailbox } from '../support/mailbox';
import { MessagingHost } from '../support/messaging-host';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';

/** A kind of notice: how one is made, and where its row is. */
interface Notices {
  make: () => Promise<void>;
  table: string;
  /** SQL condition that the mail was taken by the server, as its row says. */
  isSent: string;
}

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
  const idsOf = () => mailbox.mails.map(({ source }) => /^Message-ID: (.*)$/m.exec(source)![1]);

  /** Makes an answer that a visitor does not read. */
  async function makeUnread(): Promise<void> {
    const tenant = await createTenant(service);
    const visitor = await (await TestWidget.connect(service, tenant.workspace)).visitor();
    await visitor.post('m-1');
    await visitor.send('POST', '/answer-address', { email: 'zoe@example.com', locale: 'en' });
    const { conversationId } = (await visitor.open()).body;
    await tenant.client.post(`/conversations/${conversationId}/messages`, { body: 'Hi' });
  }

  /** Opens an alert of a workspace with an owner who has a login. */
  async function openAlert(): Promise<void> {
    const workspace = await service.make.workspace();
    const host = await MessagingHost.create({ beside: service });
    await new Logins(host).member(workspace, { role: 'OWNER' });
    await host.close();
    const { app } = service;
    await app
      .get(Database)
      .transaction((tx) => app.get(AlertWriter).open(tx, workspace.id, 'KEY_ENDING', newId()));
  }

  /** Makes a customer who waits for an agent. */
  async function makeWait(): Promise<void> {
    const host = await MessagingHost.create({ beside: service });
    const workspace = await host.make.workspace();
    const { agent } = await new Logins(host).member(workspace);
    await host
      .get(NoticeChoicesService)
      .set(workspace.id, { mailMatters: ['NOBODYS'], mailAfterMinutes: 0 }, { type: 'agent', id: agent.id });
    await host.make.received(workspace, await host.make.conversation(workspace));
    await host.close();
  }

  it.each<[string, Notices]>([
    ['an answer', { make: makeUnread, table: 'answer_notices', isSent: 'sent_at IS NOT NULL' }],
    ['a customer who waits', { make: makeWait, table: 'agent_notices', isSent: 'sent_at IS NOT NULL' }],
    [
      'an alert',
      {
        make: openAlert,
        table: 'alert_mailboxes',
        isSent: `mail_id IS NULL AND EXISTS (
          SELECT 1 FROM alerts a WHERE a.tenant_id = n.tenant_id AND a.told_at IS NOT NULL)`,
      },
    ],
  ])(
    'after the server has the mail about %s and before its commit, sends it twice with one Message-ID',
    async (_, { make, table, isSent }) => {
      const notices = () =>
        service.query<{ tries: number; isSent: boolean }>(
          `SELECT tries, ${isSent} AS "isSent" FROM ${table} n`,
        );
      const worker = await startWorker();
      const killed = new Promise<void>((resolve) => {
        mailbox.onStored = async () => {
          worker.kill('SIGKILL');
          await worker.exited;
          resolve();
        };
      });
      await make();
      await killed;
      mailbox.onStored = () => Promise.resolve();
      expect(await notices()).toEqual([{ tries: 1, isSent: false }]);
      const next = await startWorker();
      // The lease of the killed worker would end by itself.
      await service.query(`UPDATE ${table} SET due_at = now() WHERE due_at IS NOT NULL`);
      await waitFor('the record', async () => (await notices())[0]?.isSent, 60_000);
      expect(mailbox.mails).toHaveLength(2);
      expect(new Set(idsOf()).size).toBe(1);
      next.kill('SIGKILL');
      await next.exited;
    },
    120_000,
  );
});
