import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { ContactExportService } from '../../src/privacy/contact-export.service';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { ChannelWorkspace } from '../support/channel-workspace';
import { completeErasure, erasuresOf, waitForErasure } from '../support/erasures';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { insertMessages } from '../support/stored-messages';
import { TelegramSimulator } from '../support/simulators/telegram';
import { tracesIn, tracesInRedis } from '../support/traces';
import { TestWidget } from '../support/widget';
import { moment, waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

// An erasure runs many steps, which take long on a busy machine.
jest.setTimeout(180_000);

describe('erasing a contact', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let receiver: Receiver;
  let shop: ChannelWorkspace;
  let webhooks: WebhookWorkspace;
  let token: string;
  let bots = 9_100_000;
  let chatId = 77_889_900_123;
  /** Text that stands in everything that the customer says. */
  let marker: string;
  let traces: string[];

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({
      role: 'all',
      env: { TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://messaging.example.com/' },
    });
    telegram.hookOrigin = service.baseUrl;
  });
  afterAll(async () => {
    await service.close();
    await telegram.stop();
  });

  beforeEach(async () => {
    receiver = await Receiver.start();
    token = TelegramSimulator.token(++bots);
    // Each test has a new customer.
    chatId += 10;
    marker = `trace-of-zoe-${chatId % 1_000}`;
    traces = [marker, String(chatId)];
    shop = await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken: token });
    webhooks = await WebhookWorkspace.wrap(service, shop.tenant.workspace);
  });
  afterEach(async () => {
    telegram.recover();
    await receiver.stop();
  });

  const start = (contactId: string) => erasuresOf(service).start(shop.workspace.id, contactId, SYSTEM);
  const write = (text: string, more: Record<string, unknown> = {}) =>
    telegram.deliver(token, telegram.update(chatId, { text, ...more }));
  const statusesOf = async (conversation: { id: string }): Promise<(string | null)[]> =>
    (await shop.tenant.client.all(`/conversations/${conversation.id}/messages`, 200))
      .map(({ delivery }) => delivery.status)
      .reverse();

  /** Waits until every event so far was answered, and the answers are recorded. */
  const waitForAnswers = () =>
    waitFor('answers', async () => {
      const queued = await service.query('SELECT FROM event_queue WHERE tenant_id = $1', [shop.workspace.id]);
      const { data } = await webhooks.deliveries.list(shop.workspace.id, { limit: 200 }, SYSTEM);
      return queued.length === 0 && data.every(({ attempts }) => attempts.length > 0);
    });

  interface Furnished {
    conversation: { id: string; contact: { id: string } };
    answered: CreatedWebhookEndpoint;
    failing: CreatedWebhookEndpoint;
    since: Date;
  }

  /** Puts the marker into every place that a customer's words can reach. */
  async function furnish(): Promise<Furnished> {
    const { id: tenantId } = shop.workspace;
    const since = await moment();
    receiver.https.respond = (response, { path, body }) => {
      // Only what tells of the workspace's endpoints tells of nobody.
      const answer = body.includes('webhook_endpoint') ? 'nothing' : `${marker} ${body.toString()}`;
      response
        .writeHead(path.startsWith('/failing') ? 500 : 200, { 'x-echo': answer.split(' ')[0] })
        .end(answer);
    };
    await service.query(`UPDATE workspaces SET plan_tier = 'ENTERPRISE' WHERE id = $1`, [tenantId]);
    const answered = await webhooks.addEndpoint(receiver.url());
    const failing = await webhooks.addEndpoint(receiver.url('/failing'));
    const changes = {
      events: [
        ...['conversation.created', 'conversation.updated', 'message.status_changed'],
        ...['contact.created', 'contact.updated', 'audit.event'],
      ],
    };
    await webhooks.addEndpoint(receiver.url('/changes'), changes);
    await webhooks.addEndpoint(receiver.url('/failing/changes'), changes);
    const person = { first_name: `Zoë ${marker}`, id: chatId, is_bot: false };
    await write(`I am ${marker}`, { from: person });
    await telegram.deliver(
      token,
      telegram.update(chatId, { from: person, caption: marker, photo: [{ file_id: marker }] }),
    );
    const conversation = await shop.conversationWith(String(chatId));
    await service.query(
      `UPDATE contacts SET email = $3 || '@example.com', phone = $3, avatar_url = 'https://' || $3,
         attributes = jsonb_build_object($3::text, $3::text) WHERE tenant_id = $1 AND id = $2`,
      [tenantId, conversation.contact.id, marker],
    );
    await service.app
      .get(ContactsService)
      .update(tenantId, conversation.contact.id, { name: `Zoë ${marker} again` }, SYSTEM);
    await shop.tenant.client.post(
      `/conversations/${conversation.id}/messages`,
      { body: `Dear ${marker}` },
      { 'idempotency-key': `reply to ${marker}` },
    );
    await waitFor('a sent message', async () => (await statusesOf(conversation))[2] === 'SENT');
    telegram.trouble(TelegramSimulator.refusal(400, `Bad Request: ${marker}`));
    await shop.send(conversation, `Refused, ${marker}`);
    await waitFor('a failed message', async () => (await statusesOf(conversation))[3] === 'FAILED');
    telegram.trouble(TelegramSimulator.tooManyRequests(600));
    await shop.send(conversation, `Later, ${marker}`);
    await shop.send(conversation, `Last, ${marker}`);
    await waitFor('a message that waits for its retry', async () => {
      const [row] = await service.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM outbound_messages
         WHERE tenant_id = $1 AND (attempt_count > 0 OR waits) AND lease_id IS NULL`,
        [tenantId],
      );
      return row!.count === 2;
    });
    const [author] = await service.query<{ id: string }>('SELECT id FROM agents WHERE tenant_id = $1', [
      tenantId,
    ]);
    await service.query('INSERT INTO drafts VALUES ($1, $2, $3, $4, now())', [
      tenantId,
      author!.id,
      conversation.id,
      `Dear ${marker}`,
    ]);
    await service.app
      .get(NotesService)
      .create(tenantId, conversation.id, { body: `Mind ${marker}` }, { type: 'agent', id: author!.id });
    await shop.tenant.client.patch(`/conversations/${conversation.id}`, { status: 'CLOSED' });
    for await (const line of service.app
      .get(ContactExportService)
      .export(tenantId, conversation.contact.id, SYSTEM))
      expect(line.type).toEqual(expect.any(String));
    for (const what of ['conversation.updated', 'conversation.closed', 'contact.exported', 'contact.updated'])
      await receiver.waitFor(({ body }) => body.includes(what), '/changes');
    await waitForAnswers();
    await service.query(
      `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at)
       SELECT tenant_id, id, 'webhooks', $2, now() FROM events
       WHERE tenant_id = $1
         AND (data->>'conversationId' = $3 OR data->>'entityId' IN ($3, $4) OR data->>'contactId' = $4)`,
      [tenantId, marker, conversation.id, conversation.contact.id],
    );
    return { conversation, answered, failing, since };
  }

  it('leaves no trace in any column of any table, nor in Redis, and keeps the skeleton', async () => {
    const { conversation } = await furnish();
    const { client } = shop.tenant;
    const before = await client.all(`/conversations/${conversation.id}/messages`, 200);
    expect(await tracesIn(service, traces)).toEqual([
      'attachments.caption',
      'contact_identities.external_id',
      'contacts.attributes',
      'contacts.avatar_url',
      'contacts.email',
      'contacts.name',
      'contacts.phone',
      'contacts.search_text',
      'conversations.identity_external_id',
      'conversations.last_message_preview',
      'drafts.body',
      'events.data',
      'idempotency_keys.key',
      'idempotency_keys.response',
      'messages.body',
      'messages.delivery_error',
      'messages.metadata',
      'notes.body',
      'parked_events.error',
      'provider_messages.provider_id',
      'webhook_attempts.response',
      'webhook_attempts.response_headers',
      'webhook_deliveries.response',
    ]);

    const erasure = await start(conversation.contact.id);
    expect(erasure).toEqual({
      id: expect.any(String),
      contactId: conversation.contact.id,
      status: 'running',
      messages: 0,
      createdAt: expect.any(Date),
      finishedAt: null,
    });
    await waitForErasure(service, shop.workspace.id, erasure, 'settling');
    await receiver.waitFor(({ body }) => body.includes('contact.erased'), '/changes');
    await waitForAnswers();
    receiver.https.respond = (response) => response.writeHead(500).end();
    expect(await completeErasure(service, shop.workspace.id, erasure)).toEqual({
      ...erasure,
      status: 'completed',
      messages: 6,
      finishedAt: expect.any(Date),
    });

    expect(await tracesIn(service, traces)).toEqual([]);
    expect(await tracesInRedis(service, traces)).toEqual([]);
    const after = await client.all(`/conversations/${conversation.id}/messages`, 200);
    const skeleton = ({ id, senderType, senderAgentId, createdAt }: any) => ({
      id,
      senderType,
      senderAgentId,
      createdAt,
    });
    expect(after.map(skeleton)).toEqual(before.map(skeleton));
    expect(after.map(({ body }) => body)).toEqual(after.map(() => ''));
    const { body } = await client.get(`/conversations/${conversation.id}`);
    expect(body).toMatchObject({ sourceChannel: 'TELEGRAM', lastMessagePreview: '' });
    expect(body.contact).toMatchObject({
      name: null,
      email: null,
      phone: null,
      identities: [],
      attributes: {},
    });
    expect((await client.get(`/contacts?q=${marker}`)).body.data).toEqual([]);
  });

  it('sends nothing of it afterwards: not by a retry, a redelivery, a recovery, nor to the customer', async () => {
    const { conversation, answered, failing, since } = await furnish();
    const erasure = await start(conversation.contact.id);
    await waitForErasure(service, shop.workspace.id, erasure, 'settling');
    receiver.https.requests.length = 0;
    const calls = telegram.sendsTo(chatId).length;
    telegram.recover();
    await shop.hasten();

    await webhooks.makeLastAttemptDue(failing);
    await webhooks.waitForStatus(failing, 'exhausted', 6);
    const [delivery] = await webhooks.waitForStatus(answered, 'succeeded', 6);
    await webhooks.redeliver(delivery!);
    await webhooks.waitUntilMade(await webhooks.recover(failing, since));
    await receiver.waitForCount(1);
    await waitFor('recovered deliveries', () => receiver.received('/failing').length >= 12);

    const sent = [...receiver.received(), ...receiver.received('/failing')];
    for (const { body, envelope } of sent) {
      expect(body.toString()).not.toContain(marker);
      expect(envelope.data.message.body).toBe('');
    }
    expect(await statusesOf(conversation)).toEqual([null, null, 'SENT', 'FAILED', 'FAILED', 'FAILED']);
    expect(telegram.sendsTo(chatId)).toHaveLength(calls);
  });

  it('makes a new contact of whoever writes again, and takes no repetition of what was erased', async () => {
    const update = telegram.update(chatId, { text: marker });
    await telegram.deliver(token, update);
    const { id, contact } = await shop.conversationWith(String(chatId));
    const erasure = await start(contact.id);
    expect(await write('Hello again')).toBe(200);
    const next = await shop.conversationWith(String(chatId));
    expect(next.id).not.toBe(id);
    expect(next.contact.id).not.toBe(contact.id);

    await completeErasure(service, shop.workspace.id, erasure);
    expect(await telegram.deliver(token, update)).toBe(200);
    expect(await shop.bodiesOf(next)).toEqual(['Hello again']);
    expect(await tracesIn(service, [marker])).toEqual([]);
  });

  it("makes a new contact of a widget's visitor who comes back with an old token", async () => {
    const { client } = shop.tenant;
    const visitor = await (await TestWidget.connect(service, shop.workspace)).visitor();
    const named = (clientMessageId: string, name: string) =>
      visitor.send('POST', '/messages', { clientMessageId, body: `It is ${name}`, name });
    const contactsNamed = async (name: string) =>
      (await client.get(`/contacts?q=${name}`)).body.data as { id: string }[];
    const { body: first } = await named('m-1', 'Zoe-Before');
    const [erased] = await contactsNamed('Zoe-Before');
    await completeErasure(service, shop.workspace.id, await start(erased!.id));

    const { status, body: session } = await visitor.open();
    expect(status).toBe(201);
    expect(session.conversationId).toBeNull();
    const repeated = await named('m-1', 'Zoe-Before');
    expect(repeated.status).toBe(200);
    expect(repeated.body.message).toEqual({ ...first.message, body: '' });
    expect(await contactsNamed('Zoe-Before')).toEqual([]);
    expect((await visitor.history()).body.data).toEqual([]);

    expect((await named('m-2', 'Zoe-After')).status).toBe(201);
    const [returned] = await contactsNamed('Zoe-After');
    expect(returned!.id).not.toBe(erased!.id);
    expect((await visitor.history()).body.data).toMatchObject([{ body: 'It is Zoe-After' }]);
  });

  it('erases what was in flight when it came by, at its second look', async () => {
    await write(marker);
    const conversation = await shop.conversationWith(String(chatId));
    telegram.trouble({ kind: 'slow', ms: 2_000 });
    const message = await shop.send(conversation, `In flight, ${marker}`);
    await shop.delivered(message, 'SENDING');
    const erasure = await start(conversation.contact.id);
    await waitForErasure(service, shop.workspace.id, erasure, 'settling');
    await shop.delivered(message, 'SENT');
    await service.make.sent(shop.workspace, conversation, `Late, ${marker}`);
    expect(await tracesIn(service, traces)).not.toEqual([]);
    await completeErasure(service, shop.workspace.id, erasure);
    expect(await tracesIn(service, traces)).toEqual([]);
  });

  it('is recorded, with ids only, and runs once at a time', async () => {
    await write(marker);
    const { contact } = await shop.conversationWith(String(chatId));
    const erasure = await start(contact.id);
    expect(await start(contact.id)).toMatchObject({ id: erasure.id });
    await completeErasure(service, shop.workspace.id, erasure);
    expect((await start(contact.id)).id).not.toBe(erasure.id);
    const { data } = await service.app.get(AuditService).list(shop.workspace.id, {}, SYSTEM);
    expect(data.filter(({ entityId }) => entityId === contact.id).reverse()).toMatchObject([
      { action: 'contact.erasure_started', entity: 'contact', metadata: { erasureId: erasure.id } },
      { action: 'contact.erased', actorType: 'system', metadata: { erasureId: erasure.id, messages: 1 } },
      { action: 'contact.erasure_started' },
    ]);
  });

  it('is owed to each contact that was merged into it, however many', async () => {
    const { id: tenantId } = shop.workspace;
    const { id } = await service.make.contact(shop.workspace);
    await service.query(
      `INSERT INTO contacts (tenant_id, id, merged_into_id, search_text, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, '', now(), now() FROM generate_series(1, 201)`,
      [tenantId, id],
    );
    await start(id);
    const missing = await service.query(
      `SELECT FROM contacts c WHERE c.tenant_id = $1 AND c.merged_into_id = $2
         AND NOT EXISTS (SELECT FROM contact_erasures e WHERE e.tenant_id = $1 AND e.contact_id = c.id)`,
      [tenantId, id],
    );
    expect(missing).toHaveLength(0);
  });

  it('leaves other contacts alone, also those of other workspaces', async () => {
    await write(marker);
    const { contact } = await shop.conversationWith(String(chatId));
    await telegram.write(token, chatId + 1, 'Somebody else');
    const other = await shop.conversationWith(String(chatId + 1));
    const stranger = await service.make.workspace();
    for (const id of [newId(), 'nope', '']) {
      await expect(start(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    await expect(erasuresOf(service).start(stranger.id, contact.id, SYSTEM)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    const erasure = await start(contact.id);
    await expect(erasuresOf(service).get(stranger.id, erasure.id, SYSTEM)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await completeErasure(service, shop.workspace.id, erasure);
    expect(await shop.bodiesOf(other)).toEqual(['Somebody else']);
    expect(await shop.conversationWith(String(chatId + 1))).toMatchObject({
      contact: { identities: [{ externalId: String(chatId + 1) }] },
      lastMessagePreview: 'Somebody else',
    });
  });
});

describe('the worker of an erasure', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  afterAll(() => host.close());

  const withWorker = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const worker = await TestService.create({ role: 'worker', beside: host });
    try {
      return await work();
    } finally {
      await worker.close();
    }
  };

  it('makes a step that fails smaller, and holds up no other', async () => {
    await withWorker(async () => {
      const workspace = await host.make.workspace();
      const [contact, other] = [await host.make.contact(workspace), await host.make.contact(workspace)];
      const conversation = await host.make.conversation(workspace, { contactId: contact.id });
      await insertMessages(host, workspace.id, conversation.id, 40);
      await host.query(`
        CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF (SELECT count(*) FROM new WHERE body = '') > 5 THEN RAISE EXCEPTION 'too many'; END IF;
          RETURN NULL;
        END $$`);
      await host.query(
        `CREATE TRIGGER refuse_many AFTER UPDATE ON messages REFERENCING NEW TABLE AS new
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`,
      );
      const erasure = await erasuresOf(host).start(workspace.id, contact.id, SYSTEM);
      await completeErasure(host, workspace.id, await erasuresOf(host).start(workspace.id, other.id, SYSTEM));
      expect(await completeErasure(host, workspace.id, erasure)).toMatchObject({ messages: 40 });
    });
    await host.query('DROP FUNCTION refuse_many CASCADE');
  });

  it('is not needed to keep the profile out of deliveries that wait', async () => {
    const receiver = await Receiver.start();
    const webhooks = await WebhookWorkspace.create(host);
    await webhooks.addEndpoint(receiver.url(), { events: ['contact.created', 'contact.updated'] });
    receiver.https.respond = (response) => response.writeHead(500).end();
    const contact = await host.make.contact(webhooks, { name: 'Zoe-Created', email: 'zoe@example.com' });
    await host.app.get(ContactsService).update(webhooks.id, contact.id, { name: 'Zoe-Updated' }, SYSTEM);
    try {
      await withWorker(() => receiver.waitForCount(2));
      const erasure = await erasuresOf(host).start(webhooks.id, contact.id, SYSTEM);
      // No worker takes a step of the erasure.
      await host.query(
        `UPDATE contact_erasures SET due_at = now() + interval '1 hour' WHERE tenant_id = $1 AND id = $2`,
        [webhooks.id, erasure.id],
      );
      receiver.https.requests.length = 0;
      receiver.https.respond = (response) => response.writeHead(200).end();
      const sent = await withWorker(() => receiver.waitForCount(2));
      expect(sent.map(({ envelope }) => envelope.event).sort()).toEqual([
        'contact.created',
        'contact.updated',
      ]);
      for (const { body, envelope } of sent) {
        expect(body.toString()).not.toMatch(/zoe/i);
        expect(envelope.data).toMatchObject({
          contactId: contact.id,
          contact: { id: contact.id, name: null },
        });
      }
    } finally {
      await receiver.stop();
    }
  });
});
