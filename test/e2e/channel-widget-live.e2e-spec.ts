import Redis from 'ioredis';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { WidgetAdapter } from '../../src/channels/adapters/widget.adapter';
import { ConnectionLoader } from '../../src/channels/connections/connection.loader';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { VisitorTokens } from '../../src/channels/widget/visitor-tokens';
import { Widget } from '../../src/channels/widget/visitor';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/common/principal';
import { Metrics } from '../../src/metrics/metrics';
import { OwnRedis } from '../support/own-redis';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { TestStream, TestVisitor, TestWidget } from '../support/widget';
import { waitFor } from '../support/wait';

const DAY_MS = 24 * 60 * 60 * 1000;
const HEARTBEAT_MS = 15_000;
const MAX_PER_VISITOR = 10;

describe('what visitors hear', () => {
  let redis: OwnRedis;
  let service: TestService;
  let second: TestService;
  let tenant: Tenant;
  let widget: TestWidget;
  const streams: TestStream[] = [];

  beforeAll(async () => {
    redis = await OwnRedis.start();
    const env = { REDIS_URL: redis.url };
    service = await TestService.create({ role: 'all', env });
    second = await TestService.create({ beside: service, env });
    tenant = await createTenant(service);
    widget = await TestWidget.connect(service, tenant.workspace);
  });
  afterEach(() => streams.splice(0).forEach((stream) => stream.close()));
  afterAll(async () => {
    await second.close();
    await service.close();
    await redis.stop();
  });

  /** A visitor with a conversation, which has had one event. */
  async function writer(): Promise<{ visitor: TestVisitor; conversationId: string }> {
    const visitor = await widget.visitor(service);
    await visitor.post('m-1', 'Hello?');
    return { visitor, conversationId: (await visitor.open()).body.conversationId as string };
  }
  async function listen(visitor: TestVisitor, at: TestService = service): Promise<TestStream> {
    const stream = await visitor.stream(at.baseUrl);
    streams.push(stream);
    await stream.next('ready');
    return stream;
  }
  const answer = async (conversationId: string, body: string) =>
    (await tenant.client.post(`/conversations/${conversationId}/messages`, { body })).body.message as {
      id: string;
    };
  const deliveryOf = async (visitor: TestVisitor, id: string) =>
    ((await visitor.history()).body.data as { id: string; delivery: { status: string } }[]).find(
      (message) => message.id === id,
    )!.delivery.status;
  /** As the worker does with a reply. */
  async function publish(visitor: TestVisitor) {
    const loader = service.app.get(ConnectionLoader, { strict: false });
    const loaded = (await loader.byHookKey('WIDGET', widget.siteKey)) as Widget;
    const { id: messageId } = (await visitor.history()).body.data[0] as { id: string };
    const message = { messageId, conversationId: newId(), recipientId: 'visitor:x', body: 'An answer' };
    return service.app.get(WidgetAdapter, { strict: false }).send(loaded, message);
  }
  /** As the timer does every 15 seconds. */
  const beat = (at: TestService) => at.app.get(VisitorStreams, { strict: false }).sendHeartbeats();

  it('is a reply, in every process, and its author learns that it is sent, delivered, read', async () => {
    const { visitor, conversationId } = await writer();
    const here = await listen(visitor, service);
    const there = await listen(visitor, second);
    expect(here.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(here.response.headers.get('cache-control')).toBe('no-store');
    expect(here.events[0]).toEqual({ event: 'ready', id: '1', data: { conversationId, sequence: 1 } });

    const sent = await answer(conversationId, 'An answer');
    for (const stream of [here, there]) {
      const { id, data } = await stream.next('message');
      expect(id).toBe('2');
      expect(data).toEqual({
        conversationId,
        sequence: 2,
        message: {
          id: sent.id,
          senderType: 'AGENT',
          senderAgentId: tenant.owner.id,
          body: 'An answer',
          createdAt: expect.any(String),
          delivery: { status: expect.stringMatching(/^(SENDING|SENT)$/), error: null },
        },
      });
    }
    await waitFor('SENT', async () => (await deliveryOf(visitor, sent.id)) === 'SENT');
    await visitor.receipt(sent.id, 'DELIVERED');
    expect(await deliveryOf(visitor, sent.id)).toBe('DELIVERED');
    await visitor.receipt(sent.id, 'READ');
    await visitor.receipt(sent.id, 'DELIVERED');
    expect(await deliveryOf(visitor, sent.id)).toBe('READ');
  });

  it('is every reply once, in order', async () => {
    const { visitor, conversationId } = await writer();
    const stream = await listen(visitor, second);
    const bodies = Array.from({ length: 20 }, (_, n) => `Answer ${n}`);
    for (const body of bodies) await answer(conversationId, body);
    await stream.next('message', bodies.length);
    expect(stream.of('message').map(({ data }) => data.message.body)).toEqual(bodies);
    const sequences = stream.of('message').map(({ data }) => data.sequence as number);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  });

  it('is what they write in another tab, their first message too', async () => {
    const visitor = await widget.visitor(service);
    const stream = await listen(visitor, second);
    expect(stream.events[0]!.data).toEqual({ conversationId: null, sequence: 0 });
    const { body } = await visitor.post('m-1', 'Hello?');
    const { data } = await stream.next('message');
    expect(data.message).toEqual(body.message);
    expect(data).toMatchObject({ conversationId: expect.any(String), sequence: 1 });
  });

  it('is nothing of anybody else’s conversation', async () => {
    const [one, other] = [await writer(), await writer()];
    const stream = await listen(one.visitor);
    await answer(other.conversationId, 'For the other');
    await answer(one.conversationId, 'For the one');
    await stream.next('message');
    expect(stream.of('message').map(({ data }) => data.message.body)).toEqual(['For the one']);
  });

  it('goes on after something was published there that is no notice', async () => {
    const { visitor, conversationId } = await writer();
    const stream = await listen(visitor);
    const stranger = new Redis(redis.url);
    for (const text of ['no JSON', 'null', '7']) await stranger.publish('widget:notices', text);
    stranger.disconnect();
    await answer(conversationId, 'After it');
    expect((await stream.next('message')).data.message.body).toBe('After it');
  });

  it('is a heartbeat every 15 seconds', async () => {
    const { visitor, conversationId } = await writer();
    const stream = await listen(visitor);
    const { id, data } = await stream.next('heartbeat', 1, HEARTBEAT_MS + 5_000);
    expect({ id, data }).toEqual({ id: '1', data: { conversationId, sequence: 1 } });
  });

  it('tells a visitor at the next heartbeat what was lost on the way', async () => {
    const { visitor } = await writer();
    const silent = await widget.visitor(service);
    const [stream, unknown] = [await listen(visitor), await listen(silent)];
    await redis.kill();
    try {
      expect((await visitor.post('m-2', 'Unheard')).status).toBe(201);
      expect((await silent.post('m-1', 'Unheard too')).status).toBe(201);
      expect(await publish(visitor)).toMatchObject({ kind: 'RETRY' });
      await beat(service);
      expect((await stream.next('heartbeat')).data.sequence).toBe(2);
      expect((await unknown.next('heartbeat')).data).toEqual({
        conversationId: expect.any(String),
        sequence: 1,
      });
      expect(stream.of('message')).toEqual([]);
      expect((await visitor.history()).body.data).toMatchObject([{ body: 'Unheard' }, { body: 'Hello?' }]);
    } finally {
      await redis.restart();
    }
    await waitFor('what is written once Redis is back', async () => {
      await visitor.post(`m-${Math.random()}`, 'Heard');
      return stream.of('message').length > 0;
    });
  });

  it('sends a reply that was written while Redis was away once it is back', async () => {
    const { visitor, conversationId } = await writer();
    const stream = await listen(visitor, second);
    await redis.kill();
    const sent = await answer(conversationId, 'Late').finally(() => redis.restart());
    expect((await stream.next('message', 1, 20_000)).data.message).toMatchObject({ id: sent.id });
    await waitFor('SENT', async () => (await deliveryOf(visitor, sent.id)) === 'SENT');
  });

  it('is not a reply whose worker died in the middle, which their history has, and the next one follows', async () => {
    const api = await TestService.create();
    const { client, workspace } = await createTenant(api);
    const shop = await TestWidget.connect(api, workspace);
    const visitor = await shop.visitor(api);
    await visitor.post('m-1');
    const { conversationId } = (await visitor.open()).body;
    const reply = async (body: string) =>
      (await client.post(`/conversations/${conversationId}/messages`, { body })).body.message.id as string;
    const replies = [await reply('Who knows?'), await reply('The next')];
    await api.query(
      `INSERT INTO message_dispatches (tenant_id, conversation_id, message_id, connection_id, next_attempt_at, created_at)
       VALUES ($1, $2, $3, $4, now(), now())`,
      [workspace.id, conversationId, replies[0], shop.connection.id],
    );
    const loaded = await api.app.get(ConnectionLoader, { strict: false }).byHookKey('WIDGET', shop.siteKey);
    await api.app.get(OutboundMessagesRepository, { strict: false }).claim(loaded!, 1);
    await api.query(`UPDATE message_dispatches SET lease_until = now() - interval '1 second'`);
    const stream = await visitor.stream(api.baseUrl);
    streams.push(stream);
    await stream.next('ready');

    const worker = await TestService.create({ role: 'worker', beside: api });
    try {
      await waitFor('the next to be SENT', async () => (await deliveryOf(visitor, replies[1]!)) === 'SENT');
      expect(await deliveryOf(visitor, replies[0]!)).toBe('UNKNOWN');
      await stream.next('message');
      expect(stream.of('message').map(({ data }) => data.message.id)).toEqual([replies[1]]);
      expect((await visitor.receipt(replies[1]!, 'DELIVERED')).body).toEqual({ advanced: 2 });
      expect(await deliveryOf(visitor, replies[0]!)).toBe('DELIVERED');
    } finally {
      await worker.close();
      await api.close();
    }
  });

  it('is no more than ten streams of one visitor', async () => {
    const visitor = await widget.visitor(service);
    for (let n = 0; n < MAX_PER_VISITOR; n++) await listen(visitor);
    const refused = await visitor.send('GET', '/events');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('15');
    const { visitorStreams } = service.app.get(Metrics, { strict: false });
    const listening = async () => (await visitorStreams.get()).values[0]!.value;
    expect(await listening()).toBe(MAX_PER_VISITOR);
    streams.splice(0).forEach((stream) => stream.close());
    await waitFor('nobody to listen', async () => (await listening()) === 0);
    const again = await waitFor('room', async () => {
      const stream = await visitor.stream(service.baseUrl);
      return stream.response.status === 200 && stream;
    });
    streams.push(again);
  });

  it('ends when the token expires', async () => {
    const loader = service.app.get(ConnectionLoader, { strict: false });
    const loaded = (await loader.byHookKey('WIDGET', widget.siteKey)) as Widget;
    const tokens = service.app.get(VisitorTokens, { strict: false });
    const issued = await tokens.issue(loaded, 'visitor:late', new Date(Date.now() - DAY_MS + 3_000));
    const stream = await listen(widget.page().as(issued.token, service.baseUrl));
    expect((await stream.next('end')).data).toEqual({ reason: 'token_expired' });
    await stream.over();
  });

  describe('of a widget that changes', () => {
    let own: TestWidget;
    let workspaceId: string;
    let connections: ChannelConnectionsService;

    beforeEach(async () => {
      connections = service.app.get(ChannelConnectionsService);
      const { workspace } = await createTenant(service);
      workspaceId = workspace.id;
      own = await TestWidget.connect(service, workspace);
    });

    it('ends in every process, at once, when it is disconnected', async () => {
      const visitor = await own.visitor(service);
      const both = [await listen(visitor, service), await listen(visitor, second)];
      await connections.disconnect(workspaceId, own.connection.id, SYSTEM);
      for (const stream of both) {
        expect((await stream.next('end')).data).toEqual({ reason: 'widget_changed' });
        await stream.over();
      }
    });

    it('ends at the next heartbeat when its origins or its secret change', async () => {
      const stream = await listen(await own.visitor(service));
      const credentials = { allowedOrigins: ['https://new.example'] };
      await connections.rotate(workspaceId, own.connection.id, credentials, SYSTEM);
      await beat(service);
      expect((await stream.next('end')).data).toEqual({ reason: 'widget_changed' });
    });
  });

  it('ends at once when the process stops, which then exits in good order', async () => {
    const env = { REDIS_URL: redis.url };
    const child = await ServiceProcess.start('api', service.stores, env);
    const visitor = await widget.visitor(service);
    const both = [1, 2].map(() => visitor.stream(`http://127.0.0.1:${child.port}`));
    const open = await Promise.all(both);
    streams.push(...open);
    await Promise.all(open.map((stream) => stream.next('ready')));
    child.kill('SIGTERM');
    for (const stream of open) {
      expect((await stream.next('end')).data).toEqual({ reason: 'server_stopping' });
      await stream.over();
    }
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });
});
