import Redis from 'ioredis';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { WidgetAdapter } from '../../src/channels/adapters/widget/widget-adapter';
import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { VisitorTokens } from '../../src/channels/widget/visitor-tokens';
import { Widget } from '../../src/channels/widget/visitor';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { Metrics } from '../../src/metrics/metrics';
import { OwnRedis } from '../support/own-redis';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { TestStream } from '../support/test-stream';
import { TestVisitor, TestWidget } from '../support/widget';
import { waitFor } from '../support/wait';

const DAY_MS = 24 * 60 * 60 * 1000;
const HEARTBEAT_MS = 15_000;
const MAX_PER_VISITOR = 10;

describe('the stream of a visitor', () => {
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

  /** Makes a visitor with one message, whose conversation thus has one event. */
  async function visitorWithMessage(): Promise<{ visitor: TestVisitor; conversationId: string }> {
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
  const send = async (conversationId: string, body: string, sender: { senderAgentId?: string } = {}) =>
    (await tenant.client.post(`/conversations/${conversationId}/messages`, { body, ...sender })).body
      .message as { id: string };
  const deliveryOf = async (visitor: TestVisitor, id: string) =>
    ((await visitor.history()).body.data as { id: string; delivery: { status: string } }[]).find(
      (message) => message.id === id,
    )!.delivery.status;
  /** Sends a message through the widget's adapter, as the worker does. */
  async function publish(visitor: TestVisitor) {
    const loader = service.app.get(ConnectionLoader, { strict: false });
    const loaded = (await loader.loadByHookKey('WIDGET', widget.siteKey)) as Widget;
    const { id: messageId } = (await visitor.history()).body.data[0] as { id: string };
    const message = { messageId, conversationId: newId(), recipientId: 'visitor:x', body: 'An answer' };
    return service.app.get(WidgetAdapter, { strict: false }).send(loaded, message);
  }
  /** Sends heartbeats as the timer does every 15 seconds. */
  const sendHeartbeats = (at: TestService) => at.app.get(VisitorStreams, { strict: false }).sendHeartbeats();

  it('carries an outbound message in every process, which becomes SENT, DELIVERED, READ', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const here = await listen(visitor, service);
    const there = await listen(visitor, second);
    expect(here.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(here.response.headers.get('cache-control')).toBe('no-store');
    const ready = { conversationId, sequence: 1, isOnline: false };
    expect(here.events[0]).toEqual({ event: 'ready', id: '1', data: ready });

    const { id: senderAgentId } = await service.make.agent(tenant.workspace, { displayName: 'Ada' });
    const sent = await send(conversationId, 'An answer', { senderAgentId });
    for (const stream of [here, there]) {
      const { id, data } = await stream.next('message');
      expect(id).toBe('2');
      expect(data).toEqual({
        conversationId,
        sequence: 2,
        message: {
          id: sent.id,
          senderType: 'AGENT',
          senderName: 'Ada',
          clientMessageId: null,
          body: 'An answer',
          isDescribed: false,
          attachments: [],
          createdAt: expect.any(String),
          delivery: { status: expect.stringMatching(/^(SENDING|SENT)$/) },
          editedAt: null,
          unsentAt: null,
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

  it('is refused above the share of its widget with 429, and in a full process with 503', async () => {
    const env = { REDIS_URL: redis.url, WIDGET_STREAMS: '3' };
    const small = await TestService.create({ beside: service, env });
    const connect = async () => {
      const own = await createTenant(service);
      return TestWidget.connect(service, own.workspace);
    };
    const open = async (of: TestWidget) => {
      const stream = await (await of.visitor(small)).stream();
      streams.push(stream);
      if (stream.response.status === 200) await stream.next('ready');
      return stream;
    };
    const refusalOf = async (of: TestWidget) => {
      const path = `${small.baseUrl}${of.path}/events`;
      const { token } = await of.visitor(small);
      const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
      return [answer.status, answer.headers.get('retry-after')];
    };
    try {
      const [crowded, other, third, fourth] = await Promise.all([1, 2, 3, 4].map(connect));
      const [first, second] = [await open(crowded!), await open(crowded!)];
      await open(other!);
      expect(await refusalOf(crowded!)).toEqual([429, '15']);
      // The process is full, and one widget has two streams more than another one.
      expect((await open(third!)).response.status).toBe(200);
      await first.ended();
      expect(await refusalOf(fourth!)).toEqual([503, '15']);
      second.close();
      await waitFor('the place of a closed stream', async () => {
        const stream = await open(fourth!);
        return stream.response.status === 200;
      });
    } finally {
      await small.close();
    }
  });

  it('never gives way to a widget that has as many or more', async () => {
    const env = { REDIS_URL: redis.url, WIDGET_STREAMS: '4', TRUST_PROXY: 'loopback' };
    const small = await TestService.create({ beside: service, env });
    const open = async (of: TestWidget, hasWritten: boolean) => {
      const visitor = await of.visitor(small);
      if (hasWritten) await visitor.post('m-1');
      const stream = await visitor.stream();
      streams.push(stream);
      if (stream.response.status === 200) await stream.next('ready');
      return stream;
    };
    const connect = async () => TestWidget.connect(service, (await createTenant(service)).workspace);
    try {
      const [talkative, other, third] = await Promise.all([1, 2, 3].map(connect));
      const quiet = [await open(other!, false), await open(third!, false), await open(third!, false)];
      expect((await open(talkative!, true)).response.status).toBe(200);
      expect((await open(talkative!, true)).response.status).toBe(200);
      await waitFor('the end of one', () => Promise.resolve(quiet[1]!.hasEnded));
      expect((await open(talkative!, true)).response.status).toBe(429);
      expect((await open(third!, true)).response.status).toBe(200);
      await waitFor('the end of its own', () => Promise.resolve(quiet[2]!.hasEnded));
      expect((await open(third!, true)).response.status).toBe(503);
      expect(quiet[0]!.hasEnded).toBe(false);
    } finally {
      await small.close();
    }
  });

  it('of a visitor without a conversation gives way to that of one who has one', async () => {
    const env = { REDIS_URL: redis.url, WIDGET_STREAMS: '4', TRUST_PROXY: 'loopback' };
    const small = await TestService.create({ beside: service, env });
    const openFor = async (visitor: TestVisitor) => {
      const stream = await visitor.stream();
      streams.push(stream);
      if (stream.response.status === 200) await stream.next('ready');
      return stream;
    };
    const visitorOf = async (of: TestWidget, hasWritten: boolean) => {
      const visitor = await of.visitor(small);
      if (hasWritten) await visitor.post('m-1');
      return visitor;
    };
    const connect = async () => TestWidget.connect(service, (await createTenant(service)).workspace);
    try {
      const [crowded, other, third] = [await connect(), await connect(), await connect()];
      const idle = [];
      for (const each of [crowded, crowded, other, other])
        idle.push(await openFor(await visitorOf(each, false)));
      // The widget has its half of the process, and the process is full.
      const [first, second, ...rest] = idle;
      expect((await openFor(await visitorOf(crowded, true))).response.status).toBe(200);
      await first!.ended();
      expect((await openFor(await visitorOf(third, true))).response.status).toBe(200);
      await second!.ended();
      expect(rest.map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
      expect((await openFor(await visitorOf(third, false))).response.status).toBe(503);
      // Nobody who has a conversation gives way.
      for (const each of [third, await connect()]) await openFor(await visitorOf(each, true));
      expect((await openFor(await visitorOf(await connect(), true))).response.status).toBe(503);
    } finally {
      await small.close();
    }
  });

  it('carries every outbound message once, in order', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const stream = await listen(visitor, second);
    const bodies = Array.from({ length: 20 }, (_, n) => `Answer ${n}`);
    for (const body of bodies) await send(conversationId, body);
    await stream.next('message', bodies.length);
    expect(stream.listEvents('message').map(({ data }) => data.message.body)).toEqual(bodies);
    const sequences = stream.listEvents('message').map(({ data }) => data.sequence as number);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  });

  it('carries messages from another tab, also the first', async () => {
    const visitor = await widget.visitor(service);
    const stream = await listen(visitor, second);
    expect(stream.events[0]!.data).toEqual({ conversationId: null, sequence: 0, isOnline: false });
    const { body } = await visitor.post('m-1', 'Hello?');
    const { data } = await stream.next('message');
    expect(data.message).toEqual(body.message);
    expect(data).toMatchObject({ conversationId: expect.any(String), sequence: 1 });
  });

  it('carries nothing of another visitor’s conversation', async () => {
    const [one, other] = [await visitorWithMessage(), await visitorWithMessage()];
    const stream = await listen(one.visitor);
    await send(other.conversationId, 'For the other');
    await send(one.conversationId, 'For the one');
    await stream.next('message');
    expect(stream.listEvents('message').map(({ data }) => data.message.body)).toEqual(['For the one']);
  });

  it('survives a publish that is not a notice', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const stream = await listen(visitor);
    const stranger = new Redis(redis.url);
    const channels = (await stranger.pubsub('CHANNELS', `widget:*${widget.connection.id}*`)) as string[];
    expect(channels).toHaveLength(2);
    for (const channel of channels.filter((name) => name.startsWith('widget:visitor')))
      await stranger.publish(channel, 'no id');
    stranger.disconnect();
    await send(conversationId, 'After it');
    expect((await stream.next('message')).data.message.body).toBe('After it');
  });

  it('listens to the visitors of its streams, and to no other', async () => {
    const { visitor } = await visitorWithMessage();
    const one = await visitor.stream(service.baseUrl);
    await one.next('ready');
    const observer = new Redis(redis.url);
    const listenedTo = () => observer.pubsub('CHANNELS', 'widget:*');
    expect(await listenedTo()).toHaveLength(2);
    one.close();
    await waitFor('the end of the stream', async () => ((await listenedTo()) as string[]).length === 0);
    observer.disconnect();
  });

  it('carries a heartbeat every 15 seconds', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const stream = await listen(visitor);
    const { id, data } = await stream.next('heartbeat', 1, HEARTBEAT_MS + 5_000);
    expect({ id, data }).toEqual({ id: '1', data: { conversationId, sequence: 1, isOnline: false } });
  });

  it('carries the sequence of a lost message with the next heartbeat', async () => {
    const { visitor } = await visitorWithMessage();
    const silent = await widget.visitor(service);
    const [stream, silentStream] = [await listen(visitor), await listen(silent)];
    await redis.kill();
    try {
      expect((await visitor.post('m-2', 'Lost')).status).toBe(201);
      expect((await silent.post('m-1', 'Lost too')).status).toBe(201);
      expect(await publish(visitor)).toMatchObject({ kind: 'RETRY' });
      await sendHeartbeats(service);
      expect((await stream.next('heartbeat')).data.sequence).toBe(2);
      expect((await silentStream.next('heartbeat')).data).toMatchObject({
        conversationId: expect.any(String),
        sequence: 1,
      });
      expect(stream.listEvents('message')).toEqual([]);
      expect((await visitor.history()).body.data).toMatchObject([{ body: 'Lost' }, { body: 'Hello?' }]);
    } finally {
      await redis.restart();
    }
    await waitFor('a message after Redis is back', async () => {
      await visitor.post(`m-${Math.random()}`, 'Received');
      return stream.listEvents('message').length > 0;
    });
  });

  it('carries an outbound message written while Redis was down, once it is back', async () => {
    const { visitor, conversationId } = await visitorWithMessage();
    const stream = await listen(visitor, second);
    await redis.kill();
    const sent = await send(conversationId, 'Late').finally(() => redis.restart());
    expect((await stream.next('message', 1, 20_000)).data.message).toMatchObject({ id: sent.id });
    await waitFor('SENT', async () => (await deliveryOf(visitor, sent.id)) === 'SENT');
  });

  it('omits a message whose worker died while it sent; the history has it, and the next one is sent', async () => {
    const api = await TestService.create();
    const { client, workspace } = await createTenant(api);
    const shop = await TestWidget.connect(api, workspace);
    const visitor = await shop.visitor(api);
    await visitor.post('m-1');
    const { conversationId } = (await visitor.open()).body;
    const send = async (body: string) =>
      (await client.post(`/conversations/${conversationId}/messages`, { body })).body.message.id as string;
    const messageIds = [await send('Who knows?'), await send('The next')];
    await api.query(
      `INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
       VALUES ($1, $2, $3, $4, now())`,
      [workspace.id, conversationId, messageIds[0], shop.connection.id],
    );
    const loaded = await api.app
      .get(ConnectionLoader, { strict: false })
      .loadByHookKey('WIDGET', shop.siteKey);
    await api.app.get(OutboundMessagesRepository, { strict: false }).claim(loaded!, 1);
    await api.query(`UPDATE outbound_messages SET next_attempt_at = now() - interval '1 second'`);
    const stream = await visitor.stream(api.baseUrl);
    streams.push(stream);
    await stream.next('ready');

    const worker = await TestService.create({ role: 'worker', beside: api });
    try {
      await waitFor(
        'the next to be SENT',
        async () => (await deliveryOf(visitor, messageIds[1]!)) === 'SENT',
      );
      expect(await deliveryOf(visitor, messageIds[0]!)).toBe('UNKNOWN');
      await stream.next('message');
      expect(stream.listEvents('message').map(({ data }) => data.message.id)).toEqual([messageIds[1]]);
      expect((await visitor.receipt(messageIds[1]!, 'DELIVERED')).body).toEqual({ advanced: 2 });
      expect(await deliveryOf(visitor, messageIds[0]!)).toBe('DELIVERED');
    } finally {
      await worker.close();
      await api.close();
    }
  });

  it('is one of three at most of a visitor without a conversation, for three tabs', async () => {
    const visitor = await widget.visitor(service);
    for (let n = 0; n < 3; n++) await listen(visitor);
    const refused = await visitor.send('GET', '/events');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('15');
    await visitor.post('m-1');
    await listen(visitor);
  });

  it('is one of ten at most of the same visitor', async () => {
    const { visitor } = await visitorWithMessage();
    for (let n = 0; n < MAX_PER_VISITOR; n++) await listen(visitor);
    const refused = await visitor.send('GET', '/events');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('15');
    const { visitorStreams } = service.app.get(Metrics, { strict: false });
    const openStreams = async () => (await visitorStreams.get()).values[0]!.value;
    expect(await openStreams()).toBe(MAX_PER_VISITOR);
    streams.splice(0).forEach((stream) => stream.close());
    await waitFor('all streams to end', async () => (await openStreams()) === 0);
    const again = await waitFor('a free stream', async () => {
      const stream = await visitor.stream(service.baseUrl);
      return stream.response.status === 200 && stream;
    });
    streams.push(again);
  });

  it('ends when the token expires', async () => {
    const loader = service.app.get(ConnectionLoader, { strict: false });
    const loaded = (await loader.loadByHookKey('WIDGET', widget.siteKey)) as Widget;
    const tokens = service.app.get(VisitorTokens, { strict: false });
    const issued = await tokens.issue(loaded, 'visitor:late', new Date(Date.now() - DAY_MS + 3_000));
    const stream = await listen(widget.page().as(issued.token, service.baseUrl));
    expect((await stream.next('end')).data).toEqual({ reason: 'token_expired' });
    await stream.ended();
  });

  describe('when the widget changes', () => {
    let own: TestWidget;
    let workspaceId: string;
    let connections: ChannelConnectionsService;

    beforeEach(async () => {
      connections = service.app.get(ChannelConnectionsService);
      const { workspace } = await createTenant(service);
      workspaceId = workspace.id;
      own = await TestWidget.connect(service, workspace);
    });

    it('ends in every process at once when it is disconnected', async () => {
      const visitor = await own.visitor(service);
      const both = [await listen(visitor, service), await listen(visitor, second)];
      await connections.disconnect(workspaceId, own.connection.id, SYSTEM);
      for (const stream of both) {
        expect((await stream.next('end')).data).toEqual({ reason: 'widget_changed' });
        await stream.ended();
      }
    });

    it('ends at the next heartbeat when it is rotated', async () => {
      const stream = await listen(await own.visitor(service));
      const credentials = { allowedOrigins: ['https://new.example'] };
      await connections.rotate(workspaceId, own.connection.id, credentials, SYSTEM);
      await sendHeartbeats(service);
      expect((await stream.next('end')).data).toEqual({ reason: 'widget_changed' });
    });
  });

  it('ends at once when the process stops, which then exits with 0', async () => {
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
      await stream.ended();
    }
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });
});
