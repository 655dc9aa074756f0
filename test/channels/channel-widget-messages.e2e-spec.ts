import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { AppendedEvent } from '../../src/outbox/event-queue.repository';
import { EVENT_APPENDED } from '../../src/outbox/outbox.service';
import { RedisSignals } from '../../src/redis/redis-signals';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { errorBody } from '../support/errors';
import { eventsOf } from '../support/events';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { TestVisitor, TestWidget } from '../support/widget';
import { WidgetCrowd } from '../support/widget-crowd';

/** Fields of a message that its visitor has not changed. */
const UNCHANGED = { isDescribed: false, attachments: [], editedAt: null, unsentAt: null };

describe("the messages of the widget's visitors", () => {
  let crowd: WidgetCrowd;
  let service: TestService;
  let tenant: Tenant;
  let widget: TestWidget;

  beforeAll(async () => {
    crowd = await WidgetCrowd.create();
    ({ service, tenant, widget } = crowd);
  });

  describe('a message that its visitor changes', () => {
    const change = (visitor: TestVisitor, id: string, body?: unknown) =>
      body === undefined
        ? visitor.send('DELETE', `/messages/${id}`)
        : visitor.send('PATCH', `/messages/${id}`, body);

    it('has the new text, for the visitor and for agents', async () => {
      const visitor = await crowd.visitor(widget);
      await visitor.post('m-1', 'typo: 100 euro');
      const stream = await visitor.stream();
      const edited = await change(visitor, 'm-1', { body: 'corrected: 10 euro' });
      const expected = { clientMessageId: 'm-1', body: 'corrected: 10 euro', editedAt: expect.any(String) };
      expect(edited).toMatchObject({ status: 200, body: { message: expected } });
      expect((await change(visitor, 'm-1', { body: 'corrected: 10 euro' })).body).toEqual(edited.body);
      expect((await visitor.history()).body.data).toEqual([edited.body.message]);
      const { conversationId } = (await visitor.open()).body;
      const { body } = await tenant.client.get(`/conversations/${conversationId}/messages?include=firstBody`);
      expect(body.data).toMatchObject([{ body: 'corrected: 10 euro', firstBody: 'typo: 100 euro' }]);
      const events = await eventsOf(service, tenant.workspace, 'message.updated');
      expect(events.filter((event) => event['conversationId'] === conversationId)).toMatchObject([
        { change: 'EDITED' },
      ]);
      stream.close();
    });

    it('is gone after it is taken back, and once more changes nothing', async () => {
      const visitor = await crowd.visitor(widget);
      await visitor.post('m-1', 'my card is 4111 1111');
      const unsent = await change(visitor, 'm-1');
      const expected = { clientMessageId: 'm-1', body: '', unsentAt: expect.any(String) };
      expect(unsent).toMatchObject({ status: 200, body: { message: expected } });
      expect((await change(visitor, 'm-1')).body).toEqual(unsent.body);
      expect((await change(visitor, 'm-1', { body: 'back again' })).status).toBe(404);
      expect((await visitor.post('m-1', 'my card is 4111 1111')).body.message.body).toBe('');
      expect((await visitor.history()).body.data).toMatchObject([{ body: '', clientMessageId: null }]);
    });

    it("is nobody else's, and needs a text", async () => {
      const [visitor, other] = [await crowd.visitor(widget), await crowd.visitor(widget)];
      await visitor.post('m-1', 'Mine');
      await other.post('m-2', 'Mine too');
      for (const id of ['m-1', 'm-9', '%00', 'm 1', 'x'.repeat(200)]) {
        expect((await change(other, id, { body: 'forged' })).status).toBe(404);
        expect((await change(other, id)).status).toBe(404);
      }
      for (const body of [{}, { body: ' ' }, { body: 'x'.repeat(4097) }, { body: 'x', name: 'Ana' }])
        expect((await change(visitor, 'm-1', body)).status).toBe(400);
      expect((await visitor.history()).body.data).toMatchObject([{ body: 'Mine', editedAt: null }]);
    });
  });

  describe('a message', () => {
    it('is stored in a conversation of a new contact, with its event', async () => {
      const visitor = await crowd.visitor(widget);
      const { status, body } = await visitor.post('m-1', 'Where is my order?');
      expect(status).toBe(201);
      expect(body).toEqual({
        message: {
          id: expect.any(String),
          senderType: 'CUSTOMER',
          senderName: null,
          clientMessageId: 'm-1',
          body: 'Where is my order?',
          createdAt: expect.any(String),
          delivery: { status: null },
          ...UNCHANGED,
        },
      });
      const { conversationId } = (await visitor.open()).body;
      const conversation = await tenant.client.get(`/conversations/${conversationId}`);
      expect(conversation.body).toMatchObject({
        sourceChannel: 'WIDGET',
        status: 'OPEN',
        lastMessagePreview: 'Where is my order?',
        contact: {
          name: null,
          identities: [{ channel: 'WIDGET', externalId: expect.stringMatching(/^visitor:/) }],
        },
      });
      const events = await eventsOf(service, tenant.workspace, 'message.created');
      expect(events.filter((event) => event['conversationId'] === conversationId)).toHaveLength(1);
    });

    it('is told to managers as the last one that the channel has received', async () => {
      // The times of other messages are written a second later, and would hide this one's.
      const { workspace } = await createTenant(service);
      const { id } = workspace;
      const own = await TestWidget.connect(service, workspace);
      await service.query(
        `UPDATE channel_connections SET last_received_at = now() - interval '1 day' WHERE tenant_id = $1`,
        [id],
      );
      const sentAt = Date.now();
      await (await crowd.visitor(own)).post('m-1', 'Are you there?');
      await waitFor('the time of the message', async () => {
        const channels = await service.app.get(ChannelConnectionsService).list(id, SYSTEM);
        return channels.some(({ lastReceivedAt }) => lastReceivedAt!.getTime() >= sentAt);
      });
    });

    it('is stored once, whatever a retry under its id has', async () => {
      const visitor = await crowd.visitor(widget);
      const first = await visitor.post('m-1', 'Once');
      const again = await visitor.post('m-1', 'Once');
      expect([first.status, again.status]).toEqual([201, 200]);
      expect(again.body).toEqual(first.body);
      expect((await visitor.post('m-1', 'Another text')).body).toEqual(first.body);
      expect((await visitor.history()).body.data).toHaveLength(1);
    });

    it('is stored once when a new visitor sends it twenty times at once', async () => {
      const visitor = await crowd.visitor(widget);
      const answers = await Promise.all(Array.from({ length: 20 }, () => visitor.post('m-1', 'Hello?')));
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
      expect(new Set(answers.map(({ body }) => body.message.id as string)).size).toBe(1);
      expect((await visitor.history()).body.data).toHaveLength(1);
    });

    it('says who an anonymous visitor is, as far as the workspace does not know', async () => {
      const visitor = await crowd.visitor(widget);
      const write = (clientMessageId: string, profile: object) =>
        visitor.send('POST', '/messages', { clientMessageId, body: 'Hello?', ...profile });
      expect((await write('m-1', { name: 'Zoë Anonymous', email: null })).status).toBe(201);
      const [contact] = await crowd.contactsNamed('Zoë Anonymous');
      expect(contact).toMatchObject({ email: null, verified: [] });
      await write('m-2', { name: 'Mallory Anonymous', email: 'zoe.anonymous@example.com' });
      await write('m-3', { email: 'other.anonymous@example.com' });
      expect(await crowd.contactsNamed('Zoë Anonymous')).toEqual([
        expect.objectContaining({ id: contact!['id'], email: 'zoe.anonymous@example.com', verified: [] }),
      ]);
      expect(await crowd.contactsNamed('Mallory Anonymous')).toEqual([]);
    });

    it('replaces nothing that is signed, and says nothing when it is known', async () => {
      const visitor = { id: 'claims', signature: widget.sign('claims'), name: 'Signed Claims' };
      const known = await crowd.visitor(widget, { visitor });
      await known.send('POST', '/messages', { clientMessageId: 'm', body: 'Hello?', name: 'Other Claims' });
      expect(await crowd.contactsNamed('Other Claims')).toEqual([]);
      const retried = { clientMessageId: 'm', body: 'Hello?', email: 'late.claims@example.com' };
      expect((await known.send('POST', '/messages', retried)).status).toBe(200);
      expect(await crowd.contactsNamed('Signed Claims')).toMatchObject([{ email: null }]);
    });

    it('is shown to the visitor with its client message id, in every browser', async () => {
      const session = { visitor: { id: 'user 7', signature: widget.sign('user 7') } };
      const [first, second] = [await crowd.visitor(widget, session), await crowd.visitor(widget, session)];
      await first.post('phone:1');
      await second.post('laptop_1');
      const { data } = (await first.history()).body as { data: { clientMessageId: string }[] };
      expect(data.map(({ clientMessageId }) => clientMessageId)).toEqual(['laptop_1', 'phone:1']);
    });

    it('is not mixed up with another visitor’s of the same id', async () => {
      const [one, other] = [await crowd.visitor(widget), await crowd.visitor(widget)];
      await one.post('m-1', 'Mine');
      expect((await other.post('m-1', 'Theirs')).status).toBe(201);
      expect((await other.history()).body.data).toMatchObject([{ body: 'Theirs' }]);
    });

    it('reopens a closed conversation', async () => {
      const visitor = await crowd.visitor(widget);
      await visitor.post('m-1');
      const { conversationId } = (await visitor.open()).body;
      await tenant.client.patch(`/conversations/${conversationId}`, { status: 'CLOSED' });
      await visitor.post('m-2');
      expect((await tenant.client.get(`/conversations/${conversationId}`)).body.status).toBe('OPEN');
    });

    it('is stored even after the workspace’s trial has expired', async () => {
      const workspace = await service.make.expiredTrial();
      const visitor = await crowd.visitor(await TestWidget.connect(service, workspace));
      expect((await visitor.post('m-1')).status).toBe(201);
    });

    it.each([
      [{ clientMessageId: 'm', body: ' ' }, 'body'],
      [{ clientMessageId: 'm', body: 'x'.repeat(4097) }, 'body'],
      [{ clientMessageId: 'm', body: 'a\0b' }, 'body'],
      [{ clientMessageId: 'm 1', body: 'x' }, 'clientMessageId'],
      [{ clientMessageId: '', body: 'x' }, 'clientMessageId'],
      [{ body: 'x' }, 'clientMessageId'],
      [{ clientMessageId: 'm', body: 'x', senderType: 'AGENT' }, 'senderType'],
      [{ clientMessageId: 'm', body: 'x', name: ' ' }, 'name'],
      [{ clientMessageId: 'm', body: 'x', email: 'nobody' }, 'email'],
    ])('is refused as %j', async (body, field) => {
      const answer = await (await crowd.visitor(widget)).send('POST', '/messages', body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details).toMatchObject([{ field }]);
    });
  });

  describe('the history', () => {
    it('is empty before the first message', async () => {
      expect((await (await crowd.visitor(widget)).history()).body).toEqual({ data: [], nextCursor: null });
    });

    it('has the pages and messages of the API', async () => {
      const visitor = await crowd.visitor(widget);
      for (const n of [1, 2, 3, 4, 5]) await visitor.post(`m-${n}`, `Message ${n}`);
      const { conversationId } = (await visitor.open()).body;
      await tenant.client.post(`/conversations/${conversationId}/messages`, { body: 'An answer' });
      const seen: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = await visitor.history(`?limit=4${cursor && `&cursor=${cursor}`}`);
        seen.push(...(page.body.data as unknown[]));
        cursor = page.body.nextCursor as string | null;
      }
      expect(seen).toHaveLength(6);
      const whole: any[] = await tenant.client.all(`/conversations/${conversationId}/messages`, 50);
      expect(seen).toEqual(
        whole.map(({ id, senderType, body, createdAt, delivery }, index) => ({
          id,
          senderType,
          senderName: null,
          clientMessageId: index === 0 ? null : `m-${whole.length - index}`,
          body,
          createdAt,
          delivery: { status: delivery.status },
          ...UNCHANGED,
        })),
      );
    });

    it('shows agents by the display names that they have now', async () => {
      const visitor = await crowd.visitor(widget);
      await visitor.post('m-1');
      const { conversationId } = (await visitor.open()).body;
      const agents = await Promise.all(
        ['Ada', 'Grace', null].map((displayName) =>
          service.make.agent(tenant.workspace, { role: 'AGENT', displayName }),
        ),
      );
      const [ada] = agents;
      for (const { id: senderAgentId, displayName } of [...agents, ada!])
        await tenant.client.post(`/conversations/${conversationId}/messages`, {
          ...{ body: `I am ${displayName}`, senderAgentId },
        });
      await service.app
        .get(AgentsService)
        .update(tenant.workspace.id, ada!.id, { displayName: 'A.' }, SYSTEM);
      const { data } = (await visitor.history()).body as { data: Record<string, unknown>[] };
      expect(data.map(({ body, senderName }) => [body, senderName])).toEqual([
        ['I am Ada', 'A.'],
        ['I am null', null],
        ['I am Grace', 'Grace'],
        ['I am Ada', 'A.'],
        ['Do you ship to Spain?', null],
      ]);
    });

    it('shows neither which agent answered nor why an answer failed', async () => {
      const visitor = await crowd.visitor(widget);
      await visitor.post('m-1');
      const { conversationId } = (await visitor.open()).body;
      const path = `/conversations/${conversationId}/messages`;
      const { body } = await tenant.client.post(path, { body: 'An answer' });
      await service.query(
        `UPDATE messages SET delivery_status = 'FAILED', delivery_error = $2 WHERE id = $1`,
        [body.message.id, { code: 'REFUSED', providerCode: '190', message: 'The token of ACME is bad' }],
      );
      const [shown] = (await visitor.history()).body.data as object[];
      expect(shown).toEqual({
        id: body.message.id,
        senderType: 'AGENT',
        senderName: null,
        clientMessageId: null,
        body: 'An answer',
        createdAt: body.message.createdAt,
        delivery: { status: 'FAILED' },
        ...UNCHANGED,
      });
    });

    it.each(['?limit=0', '?limit=201', '?cursor=x', '?colour=red'])('refuses %s', async (query) => {
      const { status, body } = await (await crowd.visitor(widget)).history(query);
      expect(status).toBe(400);
      expect(body.error.code).toBe('INVALID_QUERY');
    });
  });

  describe('receipts', () => {
    let visitor: TestVisitor;
    let conversationId: string;

    beforeEach(async () => {
      visitor = await crowd.visitor(widget);
      await visitor.post('m-1');
      conversationId = (await visitor.open()).body.conversationId as string;
    });

    async function insertOutbound(status: string): Promise<string> {
      const path = `/conversations/${conversationId}/messages`;
      const { body } = await tenant.client.post(path, { body: 'An answer' });
      await service.query('UPDATE messages SET delivery_status = $2 WHERE id = $1', [
        body.message.id,
        status,
      ]);
      return body.message.id as string;
    }
    const statuses = async () =>
      ((await visitor.history()).body.data as { senderType: string; delivery: { status: string } }[])
        .filter(({ senderType }) => senderType === 'AGENT')
        .map(({ delivery }) => delivery.status)
        .reverse();

    it('advance every outbound message up to the one that they name, and none after it', async () => {
      await insertOutbound('SENT');
      const second = await insertOutbound('SENT');
      await insertOutbound('SENT');
      expect((await visitor.receipt(second, 'DELIVERED')).body).toEqual({ advanced: 2 });
      expect(await statuses()).toEqual(['DELIVERED', 'DELIVERED', 'SENT']);
      expect((await visitor.receipt(second, 'READ')).body).toEqual({ advanced: 2 });
      expect(await statuses()).toEqual(['READ', 'READ', 'SENT']);
    });

    it('advance many messages in steps, with one signal for each', async () => {
      const { id: tenantId } = tenant.workspace;
      const subscriber = { url: 'https://127.0.0.1:1024/', events: ['message.status_changed'] };
      await service.app.get(WebhookEndpointsService).create(tenantId, subscriber, SYSTEM);
      const first = await insertOutbound('SENT');
      const ids = Array.from({ length: 1_199 }, newId);
      await service.query(
        `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
         SELECT $1, $2, n.id, m.sender_type, m.sender_agent_id, m.body, 'SENT', m.created_at
         FROM messages m, unnest($4::uuid[]) AS n (id)
         WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = $3`,
        [tenantId, conversationId, first, ids],
      );
      await insertOutbound('SENT');
      const signals: AppendedEvent[] = [];
      const { stop, listening } = service.app
        .get(RedisSignals, { strict: false })
        .listenBeside(EVENT_APPENDED, tenantId, (event) => signals.push(event));
      await listening;

      expect((await visitor.receipt(ids.at(-1)!, 'READ')).body).toEqual({ advanced: 1_200 });
      expect(
        await service.query(
          `SELECT delivery_status AS status, count(*)::integer AS count FROM messages
           WHERE tenant_id = $1 AND conversation_id = $2 AND sender_type = 'AGENT' GROUP BY 1 ORDER BY 1`,
          [tenantId, conversationId],
        ),
      ).toEqual([
        { status: 'READ', count: 1_200 },
        { status: 'SENT', count: 1 },
      ]);
      const events = await eventsOf(service, tenant.workspace, 'message.status_changed');
      expect(events.map(({ messageId }) => messageId).sort()).toEqual([first, ...ids]);
      // Each transaction has one time.
      expect(
        await service.query(
          `SELECT count(*)::integer AS count FROM events WHERE tenant_id = $1 AND type = 'message.status_changed'
           GROUP BY created_at ORDER BY created_at`,
          [tenantId],
        ),
      ).toEqual([{ count: 500 }, { count: 500 }, { count: 200 }]);
      await waitFor('the signals', () => signals.length >= 3);
      expect(signals).toEqual(signals.map(() => ({ tenantId, id: expect.any(String) })));
      expect(signals).toHaveLength(3);
      stop();
    });

    it('never go back, and don’t advance a QUEUED message', async () => {
      await insertOutbound('READ');
      await insertOutbound('SENDING');
      const last = await insertOutbound('QUEUED');
      expect((await visitor.receipt(last, 'DELIVERED')).body).toEqual({ advanced: 1 });
      expect(await statuses()).toEqual(['READ', 'DELIVERED', 'QUEUED']);
    });

    it('cancel the sending of a message that waits for a retry, or was released', async () => {
      const messages = service.app.get(OutboundMessagesRepository, { strict: false });
      const connection = await crowd.load(widget);
      const outboundRows = () =>
        service.query('SELECT FROM outbound_messages WHERE conversation_id = $1', [conversationId]);
      const insertClaimed = async () => {
        const messageId = await insertOutbound('QUEUED');
        await service.query(
          `INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
           VALUES ($1, $2, $3, $4, now())`,
          [tenant.workspace.id, conversationId, messageId, connection.id],
        );
        return (await messages.claim(connection, 1))[0]!;
      };

      const retried = await insertClaimed();
      await service.app.get(Database).transaction((tx) => messages.scheduleRetry(tx, retried, 0));
      expect((await visitor.receipt(retried.messageId, 'DELIVERED')).body).toEqual({ advanced: 1 });
      expect(await outboundRows()).toEqual([]);

      const released = await insertClaimed();
      expect((await visitor.receipt(released.messageId, 'DELIVERED')).body).toEqual({ advanced: 1 });
      expect(await outboundRows()).toHaveLength(1);
      await messages.release(released);
      expect(await outboundRows()).toEqual([]);
    });

    it('are refused for a message that is not in the conversation', async () => {
      const elsewhere = `/conversations/${tenant.conversation.id}/messages`;
      const foreign = (await tenant.client.post(elsewhere, { body: 'To another' })).body.message.id;
      for (const messageId of [newId(), 'x', foreign as string]) {
        const { status, body } = await visitor.receipt(messageId, 'READ');
        expect(status).toBe(404);
        expect(body).toEqual(errorBody('NOT_FOUND', 'Message not found.'));
      }
      expect((await visitor.receipt(newId(), 'SENT')).status).toBe(400);
    });
  });
});
