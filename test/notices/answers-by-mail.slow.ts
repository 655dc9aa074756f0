import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { Mailbox, ReceivedMail } from '../support/mailbox';
import { MessagingHost } from '../support/messaging-host';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { TcpProxy } from '../support/tcp-proxy';
import { letTimePass, waitFor } from '../support/wait';
import { TestVisitor, TestWidget } from '../support/widget';

const LINK = /http:\/\/\S+\/answers#(\S+)/;

describe('an answer that a visitor has not read', () => {
  let mailbox: Mailbox;
  let service: TestService;
  let tenant: Tenant;
  let widget: TestWidget;
  let visitors = 0;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    service = await TestService.create({
      role: 'all',
      env: {
        TRUST_PROXY: 'loopback',
        SMTP_URL: mailbox.url,
        MAIL_FROM: 'Acme Login <login@example.com>',
        ANSWER_MAIL_SECONDS: '1',
        PUBLIC_URL: 'http://service.example',
      },
    });
    tenant = await createTenant(service, service.make.workspace({ name: 'Acme Shop' }));
    widget = await TestWidget.connect(service, tenant.workspace);
  });
  beforeEach(() => {
    mailbox.fault = null;
    mailbox.mails.length = 0;
  });

  const newPage = () =>
    widget.page(service.client, { 'x-forwarded-for': `10.1.${++visitors >> 8}.${visitors & 255}` });
  /** A visitor who has written, and given an address. */
  async function chat({ email = `zoe-${visitors}@example.com`, locale = 'en' } = {}) {
    const page = newPage();
    const visitor = page.as((await page.open()).body.token as string, service.baseUrl);
    await visitor.post('m-1', 'My secret question');
    const { status } = await visitor.send('POST', '/answer-address', { email, locale });
    expect(status).toBe(204);
    const { body } = await visitor.open();
    return { visitor, email, id: body.conversationId as string };
  }
  const answer = async (id: string, body: string) => {
    const sent = await tenant.client.post(`/conversations/${id}/messages`, { body });
    expect(sent.status).toBe(201);
    return sent.body.message.id as string;
  };
  const tokenIn = ({ text }: ReceivedMail) => LINK.exec(text)![1]!;
  const linked = (mail: ReceivedMail) => newPage().as(tokenIn(mail), service.baseUrl);
  const noticesOf = (id: string) =>
    service.query<{ tries: number; isDue: boolean; isSent: boolean }>(
      `SELECT tries, due_at IS NOT NULL AS "isDue", sent_at IS NOT NULL AS "isSent" FROM answer_notices
       WHERE conversation_id = $1`,
      [id],
    );
  const isSent = (id: string) => waitFor('a sent mail', async () => (await noticesOf(id))[0]?.isSent);
  /** Lets the worker look for answers that became old enough, as long as it needs to find one. */
  async function searchPasses() {
    const { email, id } = await chat();
    await answer(id, 'Found by the search');
    await mailbox.next(email);
  }
  /** Waits until a try that failed is recorded: the notice is due neither now nor at the end of its lease. */
  const isRecorded = (id: string, tries: number) =>
    waitFor(`the record of try ${tries}`, async () => {
      const [row] = await service.query<{ isRecorded: boolean }>(
        `SELECT tries = $2 AND (due_at IS NULL OR due_at NOT BETWEEN now() + interval '75 seconds' AND now() + interval '2 minutes')
           AS "isRecorded" FROM answer_notices WHERE conversation_id = $1`,
        [id, tries],
      );
      return row?.isRecorded;
    });
  const makeDue = (id: string) =>
    service.query('UPDATE answer_notices SET due_at = now() WHERE conversation_id = $1', [id]);

  it('is mailed with the texts of agents alone, in the language of the visitor', async () => {
    const { email, id } = await chat({ locale: 'de' });
    await answer(id, 'Ja,\nwir liefern.');
    const mail = await mailbox.next(email);
    expect(mail.subject).toBe('Acme Shop hat Ihnen geantwortet');
    expect(mail.text).toContain('> Ja,\n> wir liefern.');
    expect(mail.text).not.toContain('secret question');
    expect(mail.from).toBe('no-reply@example.com');
  });

  it('is mailed once until the visitor has read it, and the next one with another link', async () => {
    const { visitor, email, id } = await chat();
    await answer(id, 'First');
    const first = await mailbox.next(email);
    await isSent(id);
    const second = await answer(id, 'Second');
    await searchPasses();
    expect(mailbox.mails.filter(({ to }) => to.includes(email))).toEqual([]);
    expect((await linked(first).history()).status).toBe(200);
    await visitor.receipt(second, 'READ');
    await answer(id, 'Third');
    const next = await mailbox.next(email);
    expect(next.text).toContain('> Third');
    expect(next.text).not.toContain('Second');
    await isSent(id);
    expect((await linked(first).history()).status).toBe(401);
    expect((await linked(next).history()).status).toBe(200);
  });

  it('is not mailed if it was read', async () => {
    const { visitor, email, id } = await chat();
    const messageId = await answer(id, 'Read at once');
    await waitFor('the receipt', async () => (await visitor.receipt(messageId, 'READ')).body.advanced === 1);
    await searchPasses();
    expect(await noticesOf(id)).toEqual([]);
    expect(mailbox.mails.filter(({ to }) => to.includes(email))).toEqual([]);
  });

  it('is mailed to the address that the workspace knows', async () => {
    const page = newPage();
    const visitor = { id: 'u-1', signature: widget.sign('u-1'), email: 'known@example.com' };
    const opened = await page.open({ visitor });
    const known = page.as(opened.body.token as string, service.baseUrl);
    await known.post('m-1');
    const { conversationId } = (await known.open({ visitor })).body;
    expect((await known.send('GET', '/answer-address')).body).toEqual({ address: 'KNOWN' });
    await known.send('POST', '/answer-address', { locale: 'de' });
    await answer(conversationId as string, 'To you');
    const mail = await mailbox.next('known@example.com');
    expect(mail.text).toContain('> To you');
    expect(mail.subject).toBe('Acme Shop hat Ihnen geantwortet');
  });

  describe('with its link', () => {
    let mail: ReceivedMail;
    let chatting: { visitor: TestVisitor; id: string };

    beforeEach(async () => {
      chatting = await chat();
      await answer(chatting.id, 'Look here');
      mail = await mailbox.next(`zoe-${visitors - 1}@example.com`);
      await isSent(chatting.id);
    });

    it('opens a page that runs its own script alone', async () => {
      const path = new URL(LINK.exec(mail.text)![0]).pathname;
      const response = await fetch(service.baseUrl + path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      expect(response.headers.get('content-security-policy')).toMatch(
        /default-src 'none'; script-src 'sha256-/,
      );
    });

    it('reads, answers and marks as read, from the page of the service too', async () => {
      const own = linked(mail).as(tokenIn(mail));
      const { body } = await own.history();
      expect(body.data.map((message: { body: string }) => message.body)).toEqual([
        'Look here',
        'My secret question',
      ]);
      expect((await own.post('from-mail', 'Thanks')).status).toBe(201);
      expect((await own.receipt(body.data[0].id as string, 'READ')).body).toEqual({ advanced: 1 });
      const { status } = await widget
        .page(service.client, { origin: 'http://service.example' })
        .as(tokenIn(mail))
        .history();
      expect(status).toBe(200);
    });

    it('opens nothing else: no session, files, stream, address or other messages', async () => {
      const own = linked(mail);
      for (const [method, path, body] of [
        ['POST', '/sessions', {}],
        ['GET', '/events', undefined],
        ['POST', '/answer-address', { email: 'x@example.com', locale: 'en' }],
        ['POST', '/uploads', { name: 'a.txt', size: 1 }],
        ['PATCH', '/messages/m-1', { body: 'Changed' }],
        ['DELETE', '/messages/m-1', undefined],
      ] as const)
        expect([path, (await own.send(method, path, body)).status]).toEqual([path, 401]);
    });

    it('is refused when it is changed, of another widget, or too old', async () => {
      const token = tokenIn(mail);
      const [id, signature] = token.split('.');
      for (const bad of [`${id}.${signature!.slice(1)}`, `${id}.`, `x.${signature}`, `${token}.x`])
        expect((await newPage().as(bad).history()).status).toBe(401);
      const other = await createTenant(service);
      const elsewhere = await TestWidget.connect(service, other.workspace);
      expect((await elsewhere.page().as(token).history()).status).toBe(401);
      await service.query(
        `UPDATE answer_notices SET sent_at = now() - interval '7 days 1 second' WHERE conversation_id = $1`,
        [chatting.id],
      );
      expect((await newPage().as(token).history()).status).toBe(401);
    });

    it('has ended when the contact is erased, and the address with it', async () => {
      const { body } = await tenant.client.get(`/conversations/${chatting.id}`);
      await service.app
        .get(ContactErasuresService)
        .start(tenant.workspace.id, body.contact.id as string, SYSTEM);
      await waitFor('the erasure', async () => (await noticesOf(chatting.id)).length === 0);
      expect((await linked(mail).history()).status).toBe(401);
      expect(
        await service.query('SELECT FROM answer_addresses WHERE conversation_id = $1', [chatting.id]),
      ).toEqual([]);
    });
  });

  describe('at a mail server', () => {
    it('that does not know the address, is never mailed again, unless the visitor gives another address', async () => {
      const { visitor, id } = await chat();
      mailbox.fault = 'unknown';
      await answer(id, 'First');
      await waitFor('the refusal', async () => (await noticesOf(id))[0]?.isDue === false);
      mailbox.fault = null;
      const address = async () => (await visitor.send('GET', '/answer-address')).body.address as string;
      expect(await address()).toBe('NONE');
      await visitor.post('m-2', 'Hello?');
      await answer(id, 'Second');
      await searchPasses();
      expect(mailbox.mails).toEqual([]);
      await visitor.post('m-3', 'Hello?');
      await visitor.send('POST', '/answer-address', { email: 'right@example.com', locale: 'en' });
      expect(await address()).toBe('GIVEN');
      await answer(id, 'Third');
      await mailbox.next('right@example.com');
    });

    it.each(['greylists', 'takes half', 'hangs'] as const)(
      'that %s, is mailed later',
      async (fault) => {
        const { email, id } = await chat();
        mailbox.recipients = 0;
        mailbox.fault = fault;
        await answer(id, 'Later');
        await isRecorded(id, 1);
        expect(mailbox.recipients).toBeGreaterThan(0);
        expect(await noticesOf(id)).toEqual([{ tries: 1, isDue: true, isSent: false }]);
        mailbox.fault = null;
        await makeDue(id);
        await mailbox.next(email);
        await isSent(id);
      },
      60_000,
    );

    it('that takes nothing for a day, is given up', async () => {
      const { id } = await chat();
      mailbox.fault = 'greylists';
      await answer(id, 'Never');
      for (let tries = 1; tries <= 7; tries++) {
        await isRecorded(id, tries);
        if (tries < 7) await makeDue(id);
      }
      expect(await noticesOf(id)).toEqual([{ tries: 7, isDue: false, isSent: false }]);
    });
  });

  it('is not mailed to one address more than ten times a day, whoever gives it, and waits then', async () => {
    for (let n = 0; n < 12; n++) await answer((await chat({ email: `victim+${n}@example.com` })).id, 'Hi');
    await searchPasses();
    await searchPasses();
    expect(mailbox.mails.filter(({ to }) => to[0]!.startsWith('victim'))).toHaveLength(10);
    const waiting = await service.query(
      `SELECT FROM answer_notices n JOIN answer_addresses a USING (tenant_id, conversation_id)
       WHERE a.email LIKE 'victim%' AND n.tries = 0 AND n.due_at > now() + interval '50 minutes'`,
    );
    expect(waiting).toHaveLength(2);
  }, 60_000);

  it('is not mailed after the widget was disconnected', async () => {
    const other = await createTenant(service);
    const shown = await TestWidget.connect(service, other.workspace);
    const visitor = await shown.visitor();
    await visitor.post('m-1');
    await visitor.send('POST', '/answer-address', { email: 'gone@example.com', locale: 'en' });
    const id = (await visitor.open()).body.conversationId as string;
    mailbox.fault = 'greylists';
    await other.client.post(`/conversations/${id}/messages`, { body: 'Hi' });
    await isRecorded(id, 1);
    await service.app
      .get(ChannelConnectionsService)
      .disconnect(other.workspace.id, shown.connection.id, SYSTEM);
    mailbox.fault = null;
    await waitFor('the end', async () => {
      await makeDue(id);
      return (await noticesOf(id)).length === 0;
    });
    expect(mailbox.mails.filter(({ to }) => to.includes('gone@example.com'))).toEqual([]);
  });

  it('needs a conversation, a valid address and a known language', async () => {
    const page = newPage();
    const visitor = page.as((await page.open()).body.token as string);
    const give = (body: object) => visitor.send('POST', '/answer-address', body);
    expect((await give({ email: 'zoe@example.com', locale: 'en' })).status).toBe(404);
    await visitor.post('m-1');
    for (const body of [
      { email: 'no', locale: 'en' },
      { email: 'a@example.com', locale: 'fr' },
    ])
      expect((await give(body)).status).toBe(400);
    const state = async () => (await visitor.send('GET', '/answer-address')).body as unknown;
    expect(await state()).toEqual({ address: 'NONE' });
    expect((await give({ email: 'zoe@example.com', locale: 'en' })).status).toBe(204);
    expect(await state()).toEqual({ address: 'GIVEN' });
  });
});

describe.each(['true', 'false'])('with batches over several workspaces: %s', (CROSS_WORKSPACE_BATCHES) => {
  it('answers of two workspaces are mailed', async () => {
    const batches = { env: { CROSS_WORKSPACE_BATCHES } };
    const mailbox = await Mailbox.start();
    const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'login@example.com', ANSWER_MAIL_SECONDS: '1' };
    const service = await TestService.create({ role: 'all', env: { ...batches.env, ...mail } });
    for (const email of ['a@example.com', 'b@example.com']) {
      const tenant = await createTenant(service);
      const visitor = await (await TestWidget.connect(service, tenant.workspace)).visitor();
      await visitor.post('m-1');
      await visitor.send('POST', '/answer-address', { email, locale: 'en' });
      const { conversationId } = (await visitor.open()).body;
      await tenant.client.post(`/conversations/${conversationId}/messages`, { body: 'Hi' });
    }
    await mailbox.next('a@example.com');
    await mailbox.next('b@example.com');
  });
});

describe('without a mail server', () => {
  it('no address is taken, and nothing waits', async () => {
    const service = await TestService.create();
    const tenant = await createTenant(service);
    const widget = await TestWidget.connect(service, tenant.workspace);
    const visitor = await widget.visitor();
    await visitor.post('m-1');
    const given = await visitor.send('POST', '/answer-address', { email: 'zoe@example.com', locale: 'en' });
    expect(given.status).toBe(404);
    expect((await visitor.send('GET', '/answer-address')).body).toEqual({ address: 'OFF' });
    expect(await service.query('SELECT FROM answer_addresses')).toEqual([]);
  });
});

it('an answer that became old enough while the database was away is mailed', async () => {
  const mailbox = await Mailbox.start();
  const host = await MessagingHost.create();
  const proxy = await TcpProxy.start(host.stores.databaseUrl);
  const service = await TestService.create({
    role: 'all',
    beside: host,
    env: {
      DATABASE_URL: proxy.address,
      SMTP_URL: mailbox.url,
      MAIL_FROM: 'Acme Login <login@example.com>',
      ANSWER_MAIL_SECONDS: '3',
      PUBLIC_URL: 'http://service.example',
    },
  });
  const { client, workspace } = await createTenant(service);
  const visitor = await (await TestWidget.connect(service, workspace)).visitor();
  await visitor.post('m-1');
  await visitor.send('POST', '/answer-address', { email: 'zoe@example.com', locale: 'en' });
  const { conversationId } = (await visitor.open()).body;
  await client.post(`/conversations/${conversationId}/messages`, { body: 'Yes, we do.' });
  await waitFor('the answer to be sent', async () => {
    const [last] = (await visitor.history()).body.data;
    return last?.body === 'Yes, we do.' && last.delivery.status === 'SENT';
  });
  await proxy.cut();
  await letTimePass(8_000);
  expect(mailbox.mails).toEqual([]);
  await proxy.restore();
  expect((await mailbox.next('zoe@example.com')).text).toContain('> Yes, we do.');
});
