import { createHmac } from 'node:crypto';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { Type } from '@sinclair/typebox';
import { Webhook } from 'standardwebhooks';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { Entitlement, Scope } from '../../src/access/permissions';
import { Actor, SYSTEM } from '../../src/access/principal';
import { UpdateContact } from '../../src/contacts/contact.dto';
import { ContactsService } from '../../src/contacts/contacts.service';
import { Database } from '../../src/database/database';
import { eventCatalog, EventType } from '../../src/outbox/event-catalog';
import { OutboxService } from '../../src/outbox/outbox.service';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { NO_CONTEXT } from '../../src/webhooks/context/webhook-context';
import { eventsOf } from '../support/events';
import { MessagingHost } from '../support/messaging-host';
import { ReceivedWebhook, Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { isOnCitus } from '../support/test-database';
import { moment, waitFor } from '../support/wait';
import { deliveriesOf, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ajv = addFormats(new Ajv({ allErrors: true }));

/** Ways in which a process takes the events of several workspaces. Citus knows one of them. */
const WAYS = [
  ...(isOnCitus() ? [] : [['in batches over several workspaces', 'true']]),
  ['workspace by workspace', 'false'],
];

describe.each(WAYS)('outbound webhooks, taken %s,', (_, CROSS_WORKSPACE_BATCHES) => {
  let service: TestService;
  /** Host application that registers endpoints through the package: the API has no route for that. */
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all', env: { CROSS_WORKSPACE_BATCHES } });
    host = await MessagingHost.create({ beside: service });
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await host.close();
    await service.close();
    await receiver.stop();
  });

  /**
   * Returns the first webhook of a type that a subscription's endpoint received, and checks what all webhooks
   * have in common.
   */
  async function receivedBy(
    { endpoint, path }: Subscription,
    event: EventType,
    fits: (data: any) => boolean = () => true,
  ): Promise<ReceivedWebhook> {
    const webhook = await receiver.waitFor(
      ({ envelope }) => envelope.event === event && fits(envelope.data),
      path,
    );
    expectWellFormed(webhook, endpoint.secret);
    return webhook;
  }

  /**
   * Sends a last message, waits until the endpoint has it, and returns all other webhooks that the endpoint
   * received.
   */
  async function receivedSoFar(subscription: Subscription): Promise<ReceivedWebhook[]> {
    const { workspace, conversation, endpoint, path } = subscription;
    const { id } = await host.make.sent(workspace, conversation, 'The last thing');
    await receiver.waitFor(({ envelope }) => envelope.data.message?.id === id, path);
    await waitForDeliveries(host, endpoint, 'SUCCEEDED');
    return receiver.received(path).filter(({ envelope }) => envelope.data.message?.id !== id);
  }

  async function clientOf({ workspace }: Subscription) {
    const key = await host.make.apiKey(workspace);
    return { key, client: service.client.as(key) };
  }

  describe('every delivery', () => {
    let subscription: Subscription;
    let webhook: ReceivedWebhook;

    beforeAll(async () => {
      subscription = await subscribe(host, receiver);
      await host.make.received(subscription.workspace, subscription.conversation, 'Größe? 👋\n“quoted”  ');
      webhook = await receivedBy(subscription, 'message.created');
    });

    it('is a POST with the contract’s headers', () => {
      expect(webhook.method).toBe('POST');
      expect(webhook.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1.0',
        'x-service-event': 'message.created',
        'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      });
    });

    it('has no headers beyond those that are documented', () => {
      const own = Object.keys(webhook.headers).filter(
        (name) => !['host', 'connection', 'content-length'].includes(name),
      );
      expect(own.sort()).toEqual([
        'content-type',
        'user-agent',
        'webhook-id',
        'webhook-signature',
        'webhook-timestamp',
        'x-service-delivery',
        'x-service-event',
        'x-service-sequence',
        'x-service-signature',
      ]);
    });

    it('has the contract’s envelope and nothing more', () => {
      expect(Object.keys(webhook.envelope)).toEqual(['event', 'deliveredAt', 'data']);
      expect(webhook.envelope.event).toBe('message.created');
      expect(webhook.envelope.deliveredAt).toMatch(ISO_UTC);
    });

    it('is signed over the exact bytes of its body', () => {
      const { secret } = subscription.endpoint;
      const signatureOf = (body: Buffer) =>
        `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

      expect(webhook.headers['x-service-signature']).toBe(signatureOf(webhook.body));
      expect(webhook.headers['x-service-signature']).not.toBe(
        signatureOf(Buffer.from(JSON.stringify(webhook.envelope, null, 1))),
      );
    });

    it('is not verified with another endpoint’s secret', async () => {
      const other = await subscription.addEndpoint(receiver.url('/other'), { events: ['*'] });
      expect(other.secret).not.toBe(subscription.endpoint.secret);
      expect(() => new Webhook(other.secret).verify(webhook.body, standardHeaders(webhook))).toThrow();
    });

    it('carries the text unchanged', () => {
      expect(webhook.envelope.data.message.body).toBe('Größe? 👋\n“quoted”  ');
    });

    it('is identified by its delivery', async () => {
      const [delivery] = await deliveriesOf(host, subscription.endpoint);
      expect(webhook.headers['x-service-delivery']).toBe(delivery!.id);
      expect(webhook.headers['webhook-id']).toBe(delivery!.id);
    });
  });

  describe('message.created', () => {
    it('is sent for a message sent through the API', async () => {
      const subscription = await subscribe(host, receiver);
      const { client } = await clientOf(subscription);
      const { status, body } = await client.post(`/conversations/${subscription.conversation.id}/messages`, {
        body: 'Your parcel is on its way.',
      });
      expect(status).toBe(201);

      const { envelope } = await receivedBy(subscription, 'message.created');
      expect(envelope.data).toEqual({
        conversationId: subscription.conversation.id,
        message: {
          id: body.message.id,
          body: 'Your parcel is on its way.',
          senderType: 'AGENT',
          createdAt: body.message.createdAt,
        },
      });
    });

    it('is sent for an agent’s message', async () => {
      const subscription = await subscribe(host, receiver);
      const { workspace, conversation } = subscription;
      const { id, createdAt } = await host.make.sent(workspace, conversation, 'Hello from Ana');

      const { envelope } = await receivedBy(subscription, 'message.created');
      expect(envelope.data).toEqual({
        conversationId: conversation.id,
        message: {
          id,
          body: 'Hello from Ana',
          senderType: 'AGENT',
          createdAt: new Date(createdAt).toISOString(),
        },
      });
    });

    it('is sent for a customer’s message', async () => {
      const subscription = await subscribe(host, receiver);
      const { workspace, conversation } = subscription;
      const { id, createdAt } = await host.make.received(workspace, conversation, 'Where is it?');

      const { envelope } = await receivedBy(subscription, 'message.created');
      expect(envelope.data).toEqual({
        conversationId: conversation.id,
        message: {
          id,
          body: 'Where is it?',
          senderType: 'CUSTOMER',
          createdAt: new Date(createdAt).toISOString(),
        },
      });
    });

    it('is sent once for a request that is repeated under its Idempotency-Key', async () => {
      const subscription = await subscribe(host, receiver);
      const { client } = await clientOf(subscription);
      const path = `/conversations/${subscription.conversation.id}/messages`;
      const send = () => client.post(path, { body: 'Once' }, { 'idempotency-key': 'one' });
      await send();
      await send();

      expect(await receivedSoFar(subscription)).toHaveLength(1);
    });

    it.each(['TRIAL', 'STARTER', 'PRO', 'ENTERPRISE'] as const)('fires on the plan %s', async (planTier) => {
      const subscription = await subscribe(host, receiver, {
        events: ['message.created'],
        workspace: { planTier },
      });
      await host.make.received(subscription.workspace, subscription.conversation);
      await receivedBy(subscription, 'message.created');
    });

    it('fires after the trial, too', async () => {
      const subscription = await subscribe(host, receiver, {
        workspace: { planTier: 'TRIAL', trialEndsAt: new Date(Date.now() - 1000) },
      });
      await host.make.received(subscription.workspace, subscription.conversation);
      await receivedBy(subscription, 'message.created');
    });

    it('is not sent to another workspace', async () => {
      const [subscription, other] = [await subscribe(host, receiver), await subscribe(host, receiver)];
      await host.make.received(other.workspace, other.conversation);
      expect(await receivedSoFar(subscription)).toEqual([]);
    });
  });

  describe('conversation.updated', () => {
    it('has the keys of what changed and no others', async () => {
      const subscription = await subscribe(host, receiver);
      const { agent, conversation } = subscription;
      const { client } = await clientOf(subscription);
      const conversationId = conversation.id;
      const patch = async (changes: object) =>
        expect(await client.patch(`/conversations/${conversationId}`, changes)).toMatchObject({
          status: 200,
        });

      await patch({ status: 'CLOSED' });
      await patch({ status: 'CLOSED' });
      await patch({ assignedAgentId: agent.id });
      await patch({ assignedAgentId: agent.id, status: 'CLOSED' });
      await patch({ status: 'SNOOZED', assignedAgentId: agent.id });
      await patch({ status: 'OPEN', assignedAgentId: null });
      await patch({ assignedAgentId: null });

      const received = await receivedSoFar(subscription);
      for (const webhook of received) expectWellFormed(webhook, subscription.endpoint.secret);
      expect(received.map(({ envelope }) => envelope.event)).toEqual(Array(4).fill('conversation.updated'));
      expect(received.map(({ envelope }) => envelope.data)).toEqual(
        expect.arrayContaining([
          { conversationId, status: 'CLOSED' },
          { conversationId, assignedAgentId: agent.id },
          { conversationId, status: 'SNOOZED' },
          { conversationId, status: 'OPEN', assignedAgentId: null },
        ]),
      );
    });

    it('is sent when a customer’s message reopens a conversation', async () => {
      const subscription = await subscribe(host, receiver);
      const { workspace, conversation } = subscription;
      await host.make.updateConversation(workspace, conversation, { status: 'SNOOZED' });
      await host.make.received(workspace, conversation);

      const { envelope } = await receivedBy(
        subscription,
        'conversation.updated',
        ({ status }) => status === 'OPEN',
      );
      expect(envelope.data).toEqual({ conversationId: conversation.id, status: 'OPEN' });
    });

    it('is not sent for a refused change', async () => {
      const subscription = await subscribe(host, receiver);
      const { client } = await clientOf(subscription);
      const stranger = await host.make.agent(await host.make.workspace());
      const { status } = await client.patch(`/conversations/${subscription.conversation.id}`, {
        status: 'CLOSED',
        assignedAgentId: stranger.id,
      });
      expect(status).toBe(400);
      expect(await receivedSoFar(subscription)).toEqual([]);
    });
  });

  describe('audit.event', () => {
    const revokeKey = async ({ workspace, agent }: Subscription) => {
      const key = await host.make.apiKey(workspace);
      return host
        .get(ApiKeysService)
        .revoke(workspace.id, key.id, { reason: 'LEAKED' }, { type: 'agent', id: agent.id });
    };

    it.each([
      ['on the ENTERPRISE plan', { planTier: 'ENTERPRISE' as const }],
      ['with the entitlement granted apart', { entitlements: ['auditWebhookExport' as const] }],
    ])('fires %s', async (_, workspace) => {
      const subscription = await subscribe(host, receiver, { workspace, events: ['audit.event'] });
      const key = await revokeKey(subscription);

      const { envelope } = await receivedBy(
        subscription,
        'audit.event',
        ({ action }) => action === 'api_key.revoked',
      );
      expect(envelope.data).toEqual({
        action: 'api_key.revoked',
        entity: 'api_key',
        entityId: key.id,
        actorId: subscription.agent.id,
        metadata: {
          name: key.name,
          reason: 'LEAKED',
          before: { revokedAt: null },
          after: { revokedAt: key.revokedAt!.toISOString() },
        },
      });
    });

    it('names the key that acted, or the system', async () => {
      const subscription = await subscribe(host, receiver, { workspace: { planTier: 'ENTERPRISE' } });
      const { conversation } = subscription;
      const { key, client } = await clientOf(subscription);
      await client.patch(`/conversations/${conversation.id}`, { status: 'CLOSED' });

      const closed = await receivedBy(
        subscription,
        'audit.event',
        ({ action }) => action === 'conversation.closed',
      );
      expect(closed.envelope.data).toMatchObject({ entityId: conversation.id, actorId: key.id });
      const created = await receivedBy(
        subscription,
        'audit.event',
        ({ action }) => action === 'api_key.created',
      );
      expect(created.envelope.data).toMatchObject({ entityId: key.id, actorId: 'system' });
    });

    it.each(['TRIAL', 'STARTER', 'PRO'] as const)('never fires on the plan %s', async (planTier) => {
      const subscription = await subscribe(host, receiver, { workspace: { planTier } });
      await subscription.addEndpoint(receiver.url(subscription.path), { events: ['audit.event'] });
      await revokeKey(subscription);
      expect(await receivedSoFar(subscription)).toEqual([]);
    });

    it('follows the entitlement as it comes and goes', async () => {
      const subscription = await subscribe(host, receiver, { workspace: { planTier: 'PRO' } });
      const workspaces = host.get(WorkspacesService);
      await revokeKey(subscription);
      expect(await receivedSoFar(subscription)).toEqual([]);

      await workspaces.update(subscription.workspace.id, { planTier: 'ENTERPRISE' }, SYSTEM);
      const key = await revokeKey(subscription);
      await receivedBy(
        subscription,
        'audit.event',
        ({ entityId, action }) => entityId === key.id && action === 'api_key.revoked',
      );
    });
  });

  describe('webhook.test', () => {
    it('goes to its endpoint alone, signed and shaped like every event', async () => {
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      const { workspace } = subscription;
      await subscription.addEndpoint(receiver.url(`${subscription.path}-2`), {
        events: ['*', 'webhook.test'],
      });

      expect(await subscription.test(subscription.endpoint)).toMatchObject({ status: 200, error: null });

      const { envelope } = await receivedBy(subscription, 'webhook.test');
      expect(envelope.data).toEqual({ tenantId: workspace.id, test: true });
      await receivedSoFar(subscription);
      expect(receiver.received(`${subscription.path}-2`).map(({ envelope }) => envelope.event)).not.toContain(
        'webhook.test',
      );
    });
  });

  describe('subscriptions', () => {
    it('filter by event name', async () => {
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      const { workspace, conversation, path } = subscription;
      await subscription.addEndpoint(receiver.url(`${path}-updates`), { events: ['conversation.updated'] });
      await subscription.addEndpoint(receiver.url(`${path}-both`), {
        events: ['conversation.updated', 'message.created'],
      });
      await host.make.updateConversation(workspace, conversation, { status: 'CLOSED' });

      expect(await receivedSoFar(subscription)).toEqual([]);
      await receiver.waitForCount(2, `${path}-both`);
      const updates = await receiver.waitForCount(1, `${path}-updates`);
      expect(updates.map(({ envelope }) => envelope.event)).toEqual(['conversation.updated']);
    });

    it('deliver an event once to an endpoint that wants it in two ways', async () => {
      const subscription = await subscribe(host, receiver, { events: ['*', 'conversation.updated'] });
      const { workspace, conversation } = subscription;
      await host.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
      const received = (await receivedSoFar(subscription)).map(({ envelope }) => envelope.event);
      expect(received.filter((event) => event === 'conversation.updated')).toHaveLength(1);
    });

    it('give each endpoint its own delivery and signature', async () => {
      const subscription = await subscribe(host, receiver);
      const { workspace, conversation, path } = subscription;
      const second = await subscription.addEndpoint(receiver.url(`${path}-2`), { events: ['*'] });
      await host.make.received(workspace, conversation);

      const [[one], [two]] = await Promise.all([
        receiver.waitForCount(1, path),
        receiver.waitForCount(1, `${path}-2`),
      ]);
      expectWellFormed(two!, second.secret);
      expect(one!.headers['x-service-delivery']).not.toBe(two!.headers['x-service-delivery']);
    });
  });

  describe('conversation.created and contact.created', () => {
    it('tell of what is new, with the whole contact', async () => {
      const subscription = await subscribe(host, receiver, {
        events: ['conversation.created', 'contact.created'],
      });
      const { workspace } = subscription;
      const contact = await host.make.contact(workspace, { name: 'Ana', email: 'ana@example.com' });
      const { id: conversationId } = await host.make.conversation(workspace, { contactId: contact.id });

      const created = await receivedBy(subscription, 'contact.created');
      expect(created.envelope.data).toEqual({
        contactId: contact.id,
        contact: JSON.parse(JSON.stringify(contact)),
      });
      const { envelope } = await receivedBy(subscription, 'conversation.created');
      expect(envelope.data).toEqual({ conversationId, contactId: contact.id, sourceChannel: 'WIDGET' });
    });
  });

  describe('contact.updated', () => {
    it('names what changed, and has the whole contact', async () => {
      const subscription = await subscribe(host, receiver, { events: ['contact.updated'] });
      const { workspace } = subscription;
      const { id, email } = await host.make.contact(workspace, { name: 'Ana', email: 'ana@example.com' });
      const update = (changes: Omit<UpdateContact, 'updatedAt'>) =>
        host.get(ContactsService).update(workspace.id, id, changes, SYSTEM);
      await update({ name: 'Ana' });
      const after = await update({ name: 'Ana', email, phone: '+34 600', attributes: { city: 'Valencia' } });

      const { envelope } = await receivedBy(subscription, 'contact.updated');
      expect(envelope.data).toEqual({
        contactId: id,
        changed: ['phone', 'attributes'],
        contact: JSON.parse(JSON.stringify(after)),
      });
      expect(await eventsOf(service, workspace, 'contact.updated')).toHaveLength(1);
    });
  });

  describe('message.status_changed', () => {
    const fail = async ({ workspace, conversation }: Subscription) => {
      const { id } = await host.make.sent(workspace, conversation);
      await waitFor('the end of the message', async () => {
        const [row] = await service.query<{ status: string }>(
          'SELECT delivery_status AS status FROM messages WHERE tenant_id = $1 AND id = $2',
          [workspace.id, id],
        );
        return row!.status === 'FAILED';
      });
      return id;
    };

    it.each([[['message.status_changed']], [['*']]])('reaches an endpoint of %j', async (events) => {
      const subscription = await subscribe(host, receiver, { events });
      const messageId = await fail(subscription);
      const { envelope } = await receivedBy(subscription, 'message.status_changed');
      const { id: conversationId } = subscription.conversation;
      expect(envelope.data).toEqual({
        conversationId,
        messageId,
        status: 'FAILED',
        errorCode: 'NO_CONNECTION',
      });
    });

    it('is stored only while an active endpoint takes it', async () => {
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      const { workspace, path } = subscription;
      const listEventMessages = async () =>
        (await eventsOf(service, workspace, 'message.status_changed')).map(({ messageId }) => messageId);
      await fail(subscription);
      expect(await listEventMessages()).toEqual([]);

      const endpoint = await subscription.addEndpoint(receiver.url(`${path}-s`), {
        events: ['message.created', 'message.status_changed'],
      });
      const first = await fail(subscription);
      expect(await listEventMessages()).toEqual([first]);

      await subscription.deactivate(endpoint);
      await fail(subscription);
      expect(await listEventMessages()).toEqual([first]);

      await subscription.activate(endpoint);
      expect(await listEventMessages()).toEqual([first]);
      const second = await fail(subscription);
      expect(await listEventMessages()).toEqual([first, second]);
    });
  });

  describe('channel.status_changed', () => {
    it('tells of a connection that is made and ended', async () => {
      const subscription = await subscribe(host, receiver, { events: ['channel.status_changed'] });
      const connections = host.get(ChannelConnectionsService);
      const { workspace } = subscription;
      const credentials = { allowedOrigins: ['https://shop.example'] };
      const input = { channel: 'WIDGET' as const, credentials };
      const { id: connectionId } = await connections.connect(workspace.id, input, SYSTEM);
      await connections.disconnect(workspace.id, connectionId, SYSTEM);
      for (const [status, previousStatus] of [
        ['ACTIVE', null],
        ['DISCONNECTED', 'ACTIVE'],
      ]) {
        const fits = (data: { status: string }) => data.status === status;
        const { envelope } = await receivedBy(subscription, 'channel.status_changed', fits);
        expect(envelope.data).toEqual({ connectionId, channel: 'WIDGET', status, previousStatus });
      }
    });
  });

  describe('a context', () => {
    async function subscribeWithContext(...scopes: Scope[]) {
      const subscription = await subscribe(host, receiver);
      const actor = scopes.length > 0 ? await keyWith(subscription, ...scopes) : SYSTEM;
      const path = `${subscription.path}-context`;
      const events = ['message.created', 'conversation.updated'];
      const input = { url: receiver.url(path), events, context: true };
      const asking = await subscription.endpoints.create(subscription.workspace.id, input, actor);
      const first = (type: EventType) => receiver.waitFor(({ envelope }) => envelope.event === type, path);
      return { subscription, asking, first };
    }

    const keyWith = async ({ workspace }: Subscription, ...given: Scope[]): Promise<Actor> => {
      const scopes: Scope[] = ['webhooks:write', ...given];
      return { type: 'api_key', id: (await host.make.apiKey(workspace, scopes)).id, scopes };
    };

    it('comes with each delivery to an endpoint that asks for it, and with no other', async () => {
      const { subscription, asking, first } = await subscribeWithContext();
      const { workspace, conversation, agent } = subscription;
      await host.make.sent(workspace, conversation);
      const { envelope, body, headers } = await first('message.created');
      expect(Object.keys(envelope)).toEqual(['event', 'deliveredAt', 'data', 'context']);
      const { client } = await clientOf(subscription);
      const { contact, ...whole } = (await client.get(`/conversations/${conversation.id}`)).body;
      const sender = (await client.get(`/agents/${agent.id}`)).body as object;
      expect(envelope.context).toEqual({ conversation: whole, contact, sender, attachments: [] });
      const signature = createHmac('sha256', asking.secret).update(body).digest('hex');
      expect(headers['x-service-signature']).toBe(`sha256=${signature}`);
      expect((await receivedBy(subscription, 'message.created')).envelope.data).toEqual(envelope.data);

      await subscription.test(asking);
      const test = await first('webhook.test');
      expect(test.envelope.context).toEqual(NO_CONTEXT);
    });

    it('has the attachments of a message, as the API shows them, where the endpoint gets that part', async () => {
      const { subscription, first } = await subscribeWithContext();
      const { workspace, conversation, endpoints } = subscription;
      const other = `${subscription.path}-before`;
      const input = { url: receiver.url(other), events: ['message.created' as const], context: true };
      const { id: before } = await endpoints.create(workspace.id, input, SYSTEM);
      // An endpoint whose context was switched on before this part existed.
      await service.query("UPDATE webhook_endpoints SET context_parts = '{sender}' WHERE id = $1", [before]);
      const { client } = await clientOf(subscription);
      const file = { conversationId: conversation.id, name: 'a.txt', size: 5 };
      const upload = (await client.post('/uploads', file)).body as { id: string };
      await client.send({
        method: 'PUT',
        path: `/api/v1/uploads/${upload.id}/content`,
        raw: Buffer.from('bytes'),
        headers: { 'content-type': 'application/octet-stream' },
      });
      const sent = { body: 'Here', attachments: [{ uploadId: upload.id, caption: 'The bill' }] };
      const { status } = await client.post(`/conversations/${conversation.id}/messages`, sent);
      expect(status).toBe(201);
      const { envelope } = await first('message.created');
      const [attachment] = envelope.context!.attachments!;
      expect(attachment).toEqual((await client.get(`/attachments/${attachment!.id}`)).body);
      expect(attachment).toMatchObject({ name: 'a.txt', caption: 'The bill', state: 'READY', size: 5 });
      expect(envelope.data['attachments']).toBeUndefined();
      const bare = await receiver.waitFor(({ envelope: one }) => one.event === 'message.created', other);
      expect(bare.envelope.context).toMatchObject({ sender: { id: expect.any(String) }, attachments: null });
    });

    it('has no contact that is erased, and no sender of a customer’s message', async () => {
      const { subscription, first } = await subscribeWithContext();
      const { workspace, conversation } = subscription;
      const { id } = conversation.contact;
      await host.make.received(workspace, conversation);
      const { envelope } = await first('message.created');
      expect(envelope.context).toMatchObject({ contact: { id }, sender: null });
      await host.get(ContactErasuresService).start(workspace.id, id, SYSTEM);
      await host.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
      const update = await first('conversation.updated');
      const erased = { conversation: { status: 'CLOSED', lastMessagePreview: null }, contact: null };
      expect(update.envelope.context).toMatchObject(erased);
    });

    it('has what the key that switched it on may read; no other key may edit the endpoint', async () => {
      const { subscription, asking, first } = await subscribeWithContext('conversations:read');
      const { workspace, conversation, endpoints } = subscription;
      await host.make.sent(workspace, conversation);
      const { envelope } = await first('message.created');
      const read = { conversation: { id: conversation.id }, contact: null, sender: null, attachments: [] };
      expect(envelope.context).toMatchObject(read);

      const edit = (actor: Actor) => endpoints.update(workspace.id, asking.id, { name: 'Mine' }, actor);
      await expect(edit(await keyWith(subscription, 'messages:read'))).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
      const mine = { name: 'Mine', context: true, contextParts: ['conversation', 'attachments'] };
      expect(await edit(await keyWith(subscription, 'conversations:read'))).toMatchObject(mine);
      const whole = await endpoints.update(workspace.id, asking.id, { context: true }, SYSTEM);
      expect(whole.contextParts).toEqual(['conversation', 'contact', 'sender', 'attachments']);
      await expect(edit(await keyWith(subscription, 'conversations:read'))).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
    });
  });

  describe('a later event type', () => {
    const catalog = eventCatalog as unknown as Record<string, unknown>;
    const append = (tenantId: string) =>
      host
        .get(Database)
        .transaction(
          (tx) =>
            host
              .get(OutboxService)
              .appendPipelined(tx, tenantId, 'parcel.shipped' as 'audit.event', { contactId: 'c1' } as never)
              .rows,
        );

    beforeAll(() => {
      catalog['parcel.shipped'] = {
        description: 'A contact was created.',
        data: Type.Object({ contactId: Type.String() }, { additionalProperties: false }),
        isFrozen: false,
        example: { contactId: 'c1' },
        order: null,
        entitlement: null,
        kind: 'fact',
        excerpt: () => undefined,
        erase: null,
      };
    });
    afterAll(() => {
      delete catalog['parcel.shipped'];
    });

    it('reaches an endpoint that subscribed to * before', async () => {
      const subscription = await subscribe(host, receiver, { events: ['*'] });
      await append(subscription.workspace.id);
      const { envelope } = await receivedBy(subscription, 'parcel.shipped' as EventType);
      expect(envelope.data).toEqual({ contactId: 'c1' });
    });

    it('can be subscribed to by name, and is not sent to others', async () => {
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      const { workspace, path } = subscription;
      await subscription.addEndpoint(receiver.url(`${path}-5`), { events: ['parcel.shipped'] });
      await append(workspace.id);
      await receiver.waitForCount(1, `${path}-5`);
      expect(await receivedSoFar(subscription)).toEqual([]);
    });

    describe('with an entitlement', () => {
      beforeAll(() => {
        Object.assign(catalog['parcel.shipped'] as object, { entitlement: 'auditWebhookExport' });
      });

      it.each<[string, Entitlement[], number]>([
        ['reaches a workspace that has it', ['auditWebhookExport'], 2],
        ['does not reach a workspace without it', [], 0],
      ])('%s, neither at once nor by a recovery', async (_title, entitlements, count) => {
        const subscription = await subscribe(host, receiver, {
          events: ['*'],
          workspace: { planTier: 'PRO', entitlements },
        });
        const { endpoint, path } = subscription;
        const start = await moment();
        await append(subscription.workspace.id);
        await receivedSoFar(subscription);
        await subscription.deactivate(endpoint);
        await append(subscription.workspace.id);
        await subscription.waitForRelay();
        await subscription.activate(endpoint);
        await subscription.waitForRecovery(await subscription.recover(endpoint, start));
        await waitFor('the end of every delivery', async () => {
          return (await subscription.list({ status: 'pending' })).length === 0;
        });
        const parcels = receiver.received(path).filter(({ envelope }) => envelope.event === 'parcel.shipped');
        expect(parcels).toHaveLength(count);
      });
    });
  });
});

/**
 * Checks what the contract says of every delivery: envelope, event name, both signatures, and the catalog's
 * schema.
 */
function expectWellFormed(webhook: ReceivedWebhook, secret: string): void {
  const { envelope, headers, body } = webhook;
  expect(Object.keys(envelope)).toEqual(['event', 'deliveredAt', 'data']);
  expect(envelope.deliveredAt).toMatch(ISO_UTC);
  expect(headers['x-service-event']).toBe(envelope.event);
  expect(headers['x-service-signature']).toBe(
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  );
  expect(new Webhook(secret).verify(body, standardHeaders(webhook))).toEqual(envelope);
  const { data } = eventCatalog[envelope.event as EventType];
  expect(ajv.validate(data, envelope.data) || ajv.errors).toBe(true);
}

function standardHeaders({ headers }: ReceivedWebhook): Record<string, string> {
  return headers as Record<string, string>;
}
