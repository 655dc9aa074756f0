import { idFloor, newId } from '../../src/common/ids';
import { Page } from '../../src/common/page';
import { SYSTEM } from '../../src/access/principal';
import { NO_SUBJECT } from '../../src/webhooks/browsing/delivery-contents';
import {
  ListWebhookDeliveriesQuery,
  WebhookDeliverySummary,
} from '../../src/webhooks/browsing/webhook-delivery.dto';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { expectRefusal } from '../support/errors';
import { completeErasure, erasuresOf } from '../support/erasures';
import { Responder } from '../support/https-receiver';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { deliveriesOf } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';

const failing: Responder = (response) => response.writeHead(500).end('out of order');
const working: Responder = (response) => response.end('ok');

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});

beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

describe('the list of deliveries', () => {
  const MOMENTS = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => new Date(`${day}T00:00:00Z`));
  const EVENTS = ['message.created', 'conversation.updated'];
  /** Outcomes of the last attempt of finished deliveries, by the event. */
  const OUTCOMES: Record<string, [statusCode: number | null, error: string | null]> = {
    succeeded: [200, null],
    exhausted: [404, 'status'],
    cancelled: [null, 'timeout'],
    pending: [503, 'status'],
  };
  const STATUSES = ['pending', 'succeeded', 'exhausted', 'cancelled'] as const;

  interface Row {
    id: string;
    endpointId: string;
    event: string;
    status: (typeof STATUSES)[number];
    at: Date;
  }

  let tenant: WebhookWorkspace;
  let stranger: WebhookWorkspace;
  let foreign: CreatedWebhookEndpoint;
  let endpoints: CreatedWebhookEndpoint[];
  let rows: Row[];

  beforeAll(async () => {
    [tenant, stranger] = await Promise.all([
      WebhookWorkspace.create(service),
      WebhookWorkspace.create(service),
    ]);
    endpoints = await Promise.all(
      ['/a', '/b'].map((path) => tenant.addEndpoint(`https://127.0.0.1:4433${path}`, { events: EVENTS })),
    );
    foreign = await stranger.addEndpoint('https://127.0.0.1:4433/c', { events: EVENTS });
    rows = endpoints.flatMap(({ id }) => rowsOf(id));
    await insert(tenant.id, rows);
    await insert(stranger.id, rowsOf(foreign.id));
  });

  /** Returns one delivery of each event and status at each moment. */
  const rowsOf = (endpointId: string): Row[] =>
    MOMENTS.flatMap((at) =>
      EVENTS.flatMap((event) => STATUSES.map((status) => ({ id: idAt(at), endpointId, event, status, at }))),
    );

  async function insert(tenantId: string, seeds: Row[]): Promise<void> {
    for (const { id, endpointId, event, status, at } of seeds) {
      const eventId = idAt(at);
      await service.query(
        `INSERT INTO events (tenant_id, id, type, data, created_at) VALUES ($1, $2, $3, '{}', $4)`,
        [tenantId, eventId, event, at],
      );
      const delivery = [tenantId, id, endpointId, eventId, event];
      if (status === 'pending') await insertPending(delivery);
      else await insertFinished(delivery, status, at);
    }
  }

  async function insertPending(delivery: unknown[]): Promise<void> {
    await service.query(
      `INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round,
         attempt_count, recovered, next_attempt_at, last_status_code, last_error)
       VALUES ($1, $2, $3, 1, $4, $5, 1, 0, false, now() + interval '1 day', $6, $7)`,
      [...delivery, ...OUTCOMES['pending']!],
    );
  }

  async function insertFinished(delivery: unknown[], status: string, at: Date): Promise<void> {
    await service.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
         finished_at, status_code, error)
       VALUES ($1, $2, 1, $3, $4, $5, $6, 0, $7, $8, $9)`,
      [...delivery, status.toUpperCase(), at, ...OUTCOMES[status]!],
    );
  }

  /** Returns all deliveries, page by page. */
  async function all(query: Partial<ListWebhookDeliveriesQuery>): Promise<WebhookDeliverySummary[]> {
    const found: WebhookDeliverySummary[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const page: Page<WebhookDeliverySummary> = await tenant.deliveries.list(
        tenant.id,
        {
          ...query,
          cursor,
        },
        SYSTEM,
      );
      found.push(...page.data);
      cursor = page.nextCursor ?? undefined;
    }
    return found;
  }

  const newestFirst = (some: { id: string }[]) =>
    some
      .map(({ id }) => id)
      .sort()
      .reverse();

  it('takes every filter, with every other, over any number of pages', async () => {
    const filters: Partial<Omit<ListWebhookDeliveriesQuery, 'limit' | 'cursor'>> = {
      endpointId: endpoints[0]!.id,
      event: 'message.created',
      status: 'exhausted',
      since: MOMENTS[1],
      until: MOMENTS[2],
    };
    const names = Object.keys(filters) as (keyof typeof filters)[];
    for (let chosen = 0; chosen < 2 ** names.length; chosen++) {
      const query = Object.fromEntries(
        names.filter((_, bit) => chosen & (1 << bit)).map((name) => [name, filters[name]]),
      ) as typeof filters;
      const expected = rows.filter(
        ({ endpointId, event, status, at }) =>
          (!query.endpointId || endpointId === query.endpointId) &&
          (!query.event || event === query.event) &&
          (!query.status || status === query.status) &&
          (!query.since || at >= query.since) &&
          (!query.until || at < query.until),
      );
      const found = await all({ ...query, limit: 5 });
      expect({ query, ids: found.map(({ id }) => id) }).toEqual({ query, ids: newestFirst(expected) });
    }
  });

  it('shows each delivery, and when a pending one is tried next', async () => {
    const [endpoint] = endpoints;
    const query = { endpointId: endpoint!.id, since: MOMENTS[2], event: 'message.created' };
    const found = await all(query);
    expect(found.map(({ status }) => status).sort()).toEqual([...STATUSES].sort());
    for (const delivery of found) {
      expect(delivery).toEqual({
        id: expect.any(String),
        endpointId: endpoint!.id,
        eventId: expect.any(String),
        event: 'message.created',
        subject: NO_SUBJECT,
        status: expect.any(String),
        createdAt: MOMENTS[2],
        nextAttemptAt: delivery.status === 'pending' ? expect.any(Date) : null,
        attempts: [],
      });
    }
  });

  it.each([
    ['200', ['succeeded']],
    ['2xx', ['succeeded']],
    ['404', ['exhausted']],
    ['4xx', ['exhausted']],
    ['5xx', ['pending']],
    ['503', ['pending']],
    ['405', []],
    ['3xx', []],
  ])('finds by the HTTP status %s those that are %j', async (statusCode, expected) => {
    for (const endpointId of [undefined, endpoints[0]!.id]) {
      const found = await all({ statusCode, endpointId, limit: 3 });
      expect([...new Set(found.map(({ status }) => status))]).toEqual(expected);
      expect(found).toHaveLength(expected.length * MOMENTS.length * EVENTS.length * (endpointId ? 1 : 2));
    }
  });

  it.each([
    ['status', ['exhausted', 'pending']],
    ['timeout', ['cancelled']],
    ['dns', []],
  ] as const)('finds by the error %s those that are %j', async (error, expected) => {
    const [endpoint] = endpoints;
    const found = await all({ error, endpointId: endpoint!.id, limit: 5 });
    expect([...new Set(found.map(({ status }) => status))].sort()).toEqual(expected);
    const narrower = await all({ error, statusCode: '404', endpointId: endpoint!.id });
    expect([...new Set(narrower.map(({ status }) => status))]).toEqual(
      error === 'status' ? ['exhausted'] : [],
    );
  });

  it('says that a last page is the last, full or not', async () => {
    const half = await tenant.deliveries.list(tenant.id, { limit: rows.length / 2 }, SYSTEM);
    const rest = await tenant.deliveries.list(
      tenant.id,
      {
        limit: rows.length / 2,
        cursor: half.nextCursor!,
      },
      SYSTEM,
    );
    expect([half.nextCursor, rest.nextCursor]).toEqual([half.data.at(-1)!.id, null]);
    expect([...half.data, ...rest.data].map(({ id }) => id)).toEqual(newestFirst(rows));
  });

  it('finds nothing where nothing can be', async () => {
    expect(await all({ since: MOMENTS[2], until: MOMENTS[1] })).toEqual([]);
    expect(await all({ event: 'message.deleted' })).toEqual([]);
  });

  it('knows no endpoint of another workspace', async () => {
    await expectRefusal(tenant.list({ endpointId: foreign.id }), 'NOT_FOUND');
    await expectRefusal(tenant.list({ endpointId: UNKNOWN }), 'NOT_FOUND');
    await expectRefusal(tenant.list({ endpointId: 'none' }), 'NOT_FOUND');
  });

  it.each([
    { status: 'lost' },
    { limit: 0 },
    { limit: 201 },
    { cursor: 'next' },
    { since: 'soon' },
    { until: new Date(Number.NaN) },
    { event: 7 },
    { statusCode: '6xx' },
    { statusCode: '100' },
    { statusCode: '4x' },
    { error: 'none' },
    { conversationId: 7 },
    { conversationId: '\0' },
    { messageId: '\0' },
    { event: '\0' },
    { endpointId: '\0' },
    { since: '1969-12-31T23:59:59.999Z' },
    { until: new Date('+010000-01-01T00:00:00Z') },
    { colour: 'red' },
  ])('refuses %j', async (query) => {
    await expectRefusal(tenant.list(query as object), 'INVALID_QUERY');
  });

  it('has what was exhausted and what was cancelled, each by its status', async () => {
    receiver.https.respond = failing;
    const tenant = await WebhookWorkspace.create(service);
    const endpoint = await tenant.addEndpoint(receiver.url());
    const exhausted = await tenant.exhaust(endpoint);
    receiver.https.respond = working;
    await tenant.message();
    await tenant.waitForStatus(endpoint, 'succeeded');
    receiver.https.respond = failing;
    await tenant.message();
    const [waiting] = await tenant.waitForStatus(endpoint, 'pending');
    await tenant.deactivate(endpoint);
    await tenant.waitForStatus(endpoint, 'cancelled');

    const listed = async (status: 'exhausted' | 'cancelled') =>
      (await tenant.list({ status })).map(({ id }) => id);
    expect(await listed('exhausted')).toEqual([exhausted.id]);
    expect(await listed('cancelled')).toEqual([waiting!.id]);
    const { attempts } = await tenant.deliveries.get(tenant.id, exhausted.id, SYSTEM);
    expect(attempts).toHaveLength(2);
    for (const attempt of attempts) expect(attempt).toMatchObject({ statusCode: 500, error: 'status' });
  });
});

describe('what deliveries are about', () => {
  const subjectsOf = async (tenant: WebhookWorkspace) =>
    (await tenant.list({})).map(({ event, subject }) => ({ event, ...subject }));

  it('is the contact and the first words of the message, the status or the action', async () => {
    const tenant = await WebhookWorkspace.create(service, { planTier: 'ENTERPRISE' });
    const contact = await service.make.contact(tenant.workspace, { name: 'Ana Martin' });
    const conversation = await service.make.conversation(tenant.workspace, { contactId: contact.id });
    const endpoint = await tenant.addEndpoint(receiver.url(), { events: ['*'] });
    await service.make.received(tenant.workspace, conversation, `Where\n is ${'my parcel? '.repeat(20)}`);
    await service.make.updateConversation(tenant.workspace, conversation, { status: 'CLOSED' });
    await waitFor('both', async () => (await tenant.list({ status: 'succeeded' })).length >= 2);
    await tenant.test(endpoint);

    const about = { conversationId: conversation.id, contactId: contact.id, contactName: 'Ana Martin' };
    const text = `Where is ${'my parcel? '.repeat(20)}`.slice(0, 140);
    const subjects = await subjectsOf(tenant);
    expect(subjects).toContainEqual({ event: 'message.created', ...about, text });
    expect(subjects).toContainEqual({ event: 'conversation.updated', ...about, text: 'CLOSED' });
    expect(subjects).toContainEqual({ event: 'webhook.test', ...NO_SUBJECT });
    const [message] = await tenant.list({ event: 'message.created' });
    const { subject } = await tenant.deliveries.get(tenant.id, message!.id, SYSTEM);
    expect(subject).toEqual({ ...about, text });

    const erasure = await erasuresOf(service).start(tenant.id, contact.id, SYSTEM);
    await completeErasure(service, tenant.id, erasure);
    expect((await tenant.deliveries.get(tenant.id, message!.id, SYSTEM)).subject).toEqual({
      ...about,
      contactName: null,
      text: null,
    });
  });

  it('is nothing of another workspace', async () => {
    const tenant = await WebhookWorkspace.create(service);
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message('mine');
    await tenant.waitForStatus(endpoint, 'succeeded');
    const stranger = await WebhookWorkspace.create(service);
    const contact = await service.make.contact(stranger.workspace, { name: 'A stranger' });
    const { id: conversationId } = await service.make.conversation(stranger.workspace, {
      contactId: contact.id,
    });
    await service.query(
      `UPDATE events SET data = json_build_object('conversationId', $2::text) WHERE tenant_id = $1`,
      [tenant.id, conversationId],
    );
    expect(await subjectsOf(tenant)).toEqual([{ event: 'message.created', ...NO_SUBJECT, conversationId }]);
  });
});

describe('deliveries by how they went', () => {
  let tenant: WebhookWorkspace;
  let endpoint: CreatedWebhookEndpoint;

  beforeEach(async () => {
    tenant = await WebhookWorkspace.create(service);
    endpoint = await tenant.addEndpoint(receiver.url());
  });

  const idsOf = async (query: Partial<ListWebhookDeliveriesQuery>) =>
    (await tenant.list({ endpointId: endpoint.id, ...query })).map(({ id }) => id);

  it('follow the last attempt: while it waits, when it is over, cancelled, and delivered at last', async () => {
    receiver.https.respond = (response) => response.writeHead(429).end();
    await tenant.message();
    const { id } = await tenant.waitForDelivery(endpoint, 'failed', ({ attempts }) => attempts.length === 1);
    expect(await idsOf({ statusCode: '429' })).toEqual([id]);
    expect(await idsOf({ statusCode: '429', status: 'pending' })).toEqual([id]);
    receiver.https.respond = (response) => response.writeHead(307, { location: '/' }).end();
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'exhausted');
    expect(await idsOf({ statusCode: '429' })).toEqual([]);
    expect(await idsOf({ statusCode: '3xx' })).toEqual([id]);
    expect(await idsOf({ error: 'redirect' })).toEqual([id]);

    await tenant.redeliver({ id });
    await tenant.waitForDelivery(endpoint, 'failed again', ({ attempts }) => attempts.length === 3);
    expect(await idsOf({ statusCode: '307', status: 'pending' })).toEqual([id]);
    await tenant.deactivate(endpoint);
    expect(await idsOf({ statusCode: '307', status: 'cancelled' })).toEqual([id]);
    await waitFor('the cancellation', async () => {
      const rows = await service.query('SELECT FROM pending_deliveries WHERE id = $1', [id]);
      return rows.length === 0;
    });
    expect(await idsOf({ statusCode: '307', status: 'cancelled' })).toEqual([id]);

    await tenant.activate(endpoint);
    receiver.https.respond = working;
    await tenant.redeliver({ id });
    await tenant.waitForStatus(endpoint, 'succeeded');
    expect(await idsOf({ statusCode: '307' })).toEqual([]);
    expect(await idsOf({ error: 'redirect' })).toEqual([]);
    expect(await idsOf({ statusCode: '2xx' })).toEqual([id]);
  });

  it('find their conversation and their message, in flight, waiting and done', async () => {
    const other = await service.make.conversation(tenant.workspace);
    const everything = await tenant.addEndpoint(receiver.url('/everything'), { events: ['*'] });
    const message = await tenant.message();
    await service.make.received(tenant.workspace, other);
    await service.make.updateConversation(tenant.workspace, tenant.conversation, { status: 'CLOSED' });
    await waitFor('all of them', async () => (await tenant.list({ status: 'succeeded' })).length >= 5);

    const conversationId = tenant.conversation.id;
    const found = await tenant.list({ conversationId });
    const events = found.map(({ event, endpointId }) => [event, endpointId]);
    expect(events.sort()).toEqual(
      [
        ['conversation.updated', everything.id],
        ['message.created', everything.id],
        ['message.created', endpoint.id],
      ].sort(),
    );
    const ofMessage = await tenant.list({ messageId: message.id });
    expect(ofMessage.map(({ eventId }) => eventId)).toEqual([message.id, message.id]);
    expect(await tenant.list({ messageId: message.id, conversationId })).toEqual(ofMessage);
    expect(await tenant.list({ messageId: message.id, conversationId: other.id })).toEqual([]);
    expect(await idsOf({ conversationId })).toEqual(await idsOf({ messageId: message.id }));
    expect(await tenant.list({ conversationId, status: 'exhausted' })).toEqual([]);
    expect(await tenant.list({ conversationId: 'none' })).toEqual([]);
    expect(await tenant.list({ messageId: 'none' })).toEqual([]);
    const stranger = await WebhookWorkspace.create(service);
    expect(await stranger.list({ conversationId })).toEqual([]);
    expect(await stranger.list({ messageId: message.id })).toEqual([]);

    let endAttempts!: () => void;
    const released = new Promise<void>((resolve) => (endAttempts = resolve));
    receiver.https.respond = (response) => void released.then(() => response.writeHead(500).end());
    const held = await tenant.message();
    await waitFor('both attempts', async () => (await tenant.list({ messageId: held.id })).length === 2);
    expect(await idsOf({ conversationId, status: 'pending' })).toHaveLength(1);
    endAttempts();
    await waitFor('both failures', async () =>
      (await tenant.list({ messageId: held.id })).every(({ attempts }) => attempts.length === 1),
    );
    expect(await idsOf({ conversationId, statusCode: '500' })).toHaveLength(1);
  });

  it('find a long conversation page by page', async () => {
    for (let n = 0; n < 25; n++) await tenant.message();
    await tenant.waitForStatus(endpoint, 'succeeded', 25);
    const conversationId = tenant.conversation.id;
    const found: string[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const page = await tenant.deliveries.list(tenant.id, { conversationId, limit: 4, cursor }, SYSTEM);
      found.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    }
    expect(found).toEqual(await idsOf({}));
  });

  it('are found however rare, with pages that end before they are full', async () => {
    const start = Date.now() - 60_000;
    const rare = idAt(new Date(start - 1));
    await service.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
         finished_at, attempted_at, duration_ms, status_code)
       SELECT $1, id, 1, $2, id, 'message.created', 'SUCCEEDED', 1, now(), now(), 1, CASE WHEN id = $3 THEN 204 ELSE 200 END
       FROM unnest($4::uuid[] || $3::uuid) AS id`,
      [tenant.id, endpoint.id, rare, Array.from({ length: 30_000 }, (_, n) => idAt(new Date(start + n)))],
    );
    const query = { endpointId: endpoint.id, statusCode: '204' };
    const first = await tenant.deliveries.list(tenant.id, query, SYSTEM);
    expect([first.data, first.nextCursor]).toEqual([[], expect.any(String)]);
    const second = await tenant.deliveries.list(tenant.id, { ...query, cursor: first.nextCursor! }, SYSTEM);
    expect([second.data.map(({ id }) => id), second.nextCursor]).toEqual([[rare], null]);
  });
});

describe("a delivery's whole record", () => {
  let tenant: WebhookWorkspace;
  beforeAll(async () => {
    tenant = await WebhookWorkspace.create(service);
  });

  const detailOf = ({ id }: { id: string }) => tenant.deliveries.get(tenant.id, id, SYSTEM);

  it('times what setting up a connection took, once', async () => {
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message();
    const [first] = await tenant.waitForStatus(endpoint, 'succeeded');
    await tenant.message();
    const [second] = await tenant.waitForStatus(endpoint, 'succeeded', 2);

    const ms = expect.any(Number);
    const attempt = {
      at: expect.any(Date),
      statusCode: 200,
      durationMs: ms,
      error: null,
      errorMessage: null,
      fault: null,
    };
    const response = { encoding: 'utf8', body: 'ok' };
    const request = expect.any(Object);
    const responseHeaders = null;
    expect(await detailOf(first!)).toEqual({
      ...first,
      request,
      attempts: [
        {
          ...attempt,
          response,
          responseHeaders,
          phases: { lookupMs: ms, connectMs: ms, tlsMs: ms, firstByteMs: ms },
        },
      ],
    });
    expect(await detailOf(second!)).toEqual({
      ...second,
      request,
      attempts: [
        {
          ...attempt,
          response,
          responseHeaders,
          phases: { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: ms },
        },
      ],
    });
  });

  it.each([
    ['text as text', Buffer.from('Zoë 漢字 📦'), { encoding: 'utf8', body: 'Zoë 漢字 📦' }],
    ['what is no text in base64', Buffer.of(0xff, 0xfe, 0x00), { encoding: 'base64', body: '//4A' }],
    ['a NUL like any character', Buffer.from('a\0b'), { encoding: 'utf8', body: 'a\0b' }],
    ['nothing as an empty text', Buffer.alloc(0), { encoding: 'utf8', body: '' }],
  ])('has of the answer %s', async (_, body, response) => {
    receiver.https.respond = (answer) => answer.end(body);
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message();
    const [delivery] = await tenant.waitForStatus(endpoint, 'succeeded');
    expect((await detailOf(delivery!)).attempts).toMatchObject([{ statusCode: 200, response }]);
  });

  it('has the request as the receiver got it, but for what signs it', async () => {
    receiver.https.respond = failing;
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message('Zoë asks');
    const [pending] = await tenant.waitForStatus(endpoint, 'pending');
    await waitFor('a failed attempt', async () => (await detailOf(pending!)).attempts.length === 1);
    receiver.https.respond = working;
    await tenant.redeliver(pending!);
    const [delivery] = await tenant.waitForStatus(endpoint, 'succeeded');

    const { request } = await detailOf(delivery!);
    const [, sent] = receiver.received();
    expect(request).toMatchObject({ method: 'POST', url: endpoint.url, body: sent!.body.toString() });
    const shown = request!.headers.filter(({ value }) => value !== null);
    expect(shown).toHaveLength(7);
    for (const { name, value } of shown) expect([name, sent!.headers[name]]).toEqual([name, value]);
    const hidden = request!.headers.filter(({ value }) => value === null).map(({ name }) => name);
    expect(hidden).toEqual(['x-service-signature', 'webhook-signature']);

    await tenant.endpoints.delete(tenant.id, endpoint.id, SYSTEM);
    expect((await detailOf(delivery!)).request).toEqual(request);
    await service.query('DELETE FROM events WHERE tenant_id = $1 AND id = $2', [
      tenant.id,
      delivery!.eventId,
    ]);
    expect((await detailOf(delivery!)).request).toBeNull();
  });

  it('has the headers of each answer, cut after 2 KiB', async () => {
    let long = false;
    receiver.https.respond = (response) => {
      response.setHeader('x-request-id', ['a\u00e4', 'b']);
      if (long) response.setHeader('x-long', 'x'.repeat(4_000));
      response.writeHead(500).end();
      long = true;
    };
    const endpoint = await tenant.addEndpoint(receiver.url());
    const { id } = await tenant.exhaust(endpoint);
    const [first, second] = (await tenant.deliveries.get(tenant.id, id, SYSTEM)).attempts;
    expect(first!.responseHeaders).toMatch(/^x-request-id: a.+\nx-request-id: b\n/);
    expect(first!.responseHeaders).toContain('transfer-encoding: chunked\n');
    expect(second!.responseHeaders).toHaveLength(2048);
    expect(second!.responseHeaders).toMatch(/x-long: x+$/);
  });

  it('has no header of an answer that gives access to the receiver', async () => {
    const shown = { 'x-request-id': 'r-1', 'www-authenticate': 'Bearer realm="hooks"', 'keep-alive': 'x' };
    const secret = {
      'set-cookie': ['sid=cApAbIlItY; HttpOnly', 'csrf=cApAbIlItY'],
      'set-cookie2': 'sid=cApAbIlItY',
      authorization: 'Bearer cApAbIlItY',
      'proxy-authorization': 'Basic cApAbIlItY',
      'x-auth': 'cApAbIlItY',
      'x-auth-token': 'cApAbIlItY',
      'X-CSRFToken': 'cApAbIlItY',
      'x-amz-security-token': 'cApAbIlItY',
      x_api_key: 'cApAbIlItY',
      'x-apikey': 'cApAbIlItY',
      'x-hook-secret': 'cApAbIlItY',
      'x-session-id': 'cApAbIlItY',
    };
    receiver.https.respond = (response) => {
      for (const [name, value] of Object.entries({ ...shown, ...secret })) response.setHeader(name, value);
      response.writeHead(500).end();
    };
    const endpoint = await tenant.addEndpoint(receiver.url());
    const { id } = await tenant.exhaust(endpoint);
    const { attempts } = await tenant.deliveries.get(tenant.id, id, SYSTEM);
    for (const { responseHeaders } of [...attempts, await tenant.test(endpoint)]) {
      for (const [name, value] of Object.entries(shown))
        expect(responseHeaders).toContain(`${name}: ${value}\n`);
      expect(responseHeaders).not.toContain('cApAbIlItY');
    }
  });

  it('has every attempt with its own fault, oldest first', async () => {
    let asked = 0;
    receiver.https.respond = (response) => {
      asked += 1;
      if (asked === 1) response.socket!.destroy();
      else if (asked === 2) failing(response, receiver.https.lastRequest);
      else response.end('ok');
    };
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message();
    const [delivery] = await tenant.waitForStatus(endpoint, 'succeeded');
    expect((await detailOf(delivery!)).attempts).toMatchObject([
      { statusCode: null, error: 'connection', errorMessage: expect.any(String), response: null },
      { statusCode: 500, error: 'status', errorMessage: 'Answered 500', response: { body: 'out of order' } },
      { statusCode: 200, error: null, errorMessage: null, response: { body: 'ok' } },
    ]);
  });

  it('is not shown to another workspace', async () => {
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message();
    const [delivery] = await tenant.waitForStatus(endpoint, 'succeeded');
    const stranger = await WebhookWorkspace.create(service);
    await expectRefusal(stranger.deliveries.get(stranger.id, delivery!.id, SYSTEM), 'NOT_FOUND');
    await expectRefusal(tenant.deliveries.get(tenant.id, UNKNOWN, SYSTEM), 'NOT_FOUND');
    await expectRefusal(tenant.deliveries.get(tenant.id, 'none', SYSTEM), 'NOT_FOUND');
  });
});

describe('redelivering', () => {
  let tenant: WebhookWorkspace;
  let endpoint: CreatedWebhookEndpoint;

  beforeEach(async () => {
    tenant = await WebhookWorkspace.create(service);
    endpoint = await tenant.addEndpoint(receiver.url());
  });

  /** Redelivers, and checks that the receiver gets the same delivery once more. */
  async function expectRedelivered(delivery: WebhookDeliverySummary): Promise<void> {
    const before = receiver.received().length;
    receiver.https.respond = working;
    expect(await tenant.redeliver(delivery)).toMatchObject({ id: delivery.id, status: 'pending' });
    const received = await receiver.waitForCount(before + 1);
    expect(received.at(-1)!.headers['x-service-delivery']).toBe(delivery.id);
    const done = await tenant.waitForDelivery(
      endpoint,
      'is delivered again',
      ({ status }) => status === 'succeeded',
    );
    expect(done).toEqual({
      ...delivery,
      status: 'succeeded',
      nextAttemptAt: null,
      attempts: [...delivery.attempts, expect.objectContaining({ statusCode: 200 })],
    });
  }

  it('sends again what succeeded, under the same id, and records it in the audit log', async () => {
    await tenant.message();
    const [delivery] = await tenant.waitForStatus(endpoint, 'succeeded');
    await expectRedelivered(delivery!);

    const [first, second] = receiver.received();
    expect(second!.envelope.data).toEqual(first!.envelope.data);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(await tenant.auditOf(delivery!)).toMatchObject([
      {
        action: 'webhook_delivery.redelivered',
        entity: 'webhook_delivery',
        actorType: 'system',
        metadata: { endpointId: endpoint.id, event: 'message.created' },
      },
    ]);
  });

  it('tries what was exhausted anew, with the whole retry schedule', async () => {
    receiver.https.respond = failing;
    const delivery = await tenant.exhaust(endpoint);
    await tenant.redeliver(delivery);
    const failedAgain = await tenant.waitForDelivery(
      endpoint,
      'has failed again',
      ({ attempts, nextAttemptAt }) => attempts.length > delivery.attempts.length && nextAttemptAt !== null,
    );
    expect(failedAgain).toMatchObject({ status: 'pending', nextAttemptAt: expect.any(Date) });
    expect(
      await service.query('SELECT round, attempt_count FROM pending_deliveries WHERE id = $1', [delivery.id]),
    ).toEqual([{ round: 2, attempt_count: 1 }]);
    await expectRedelivered(failedAgain);
  });

  it('sends what was cancelled, once its endpoint is active again', async () => {
    receiver.https.respond = failing;
    await tenant.message();
    await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
    await tenant.deactivate(endpoint);
    const [delivery] = await tenant.waitForStatus(endpoint, 'cancelled');
    await expectRefusal(tenant.redeliver(delivery!), 'INVALID_BODY');
    expect(await tenant.list()).toEqual([delivery]);
    await tenant.activate(endpoint);
    await expectRedelivered(delivery!);
  });

  it('takes many at once, and tells of each whether it is delivered again', async () => {
    await tenant.message();
    await tenant.message();
    const [second, first] = await tenant.waitForStatus(endpoint, 'succeeded', 2);
    const inactive = await tenant.addEndpoint(receiver.url('/inactive'));
    await tenant.message();
    const [third] = await tenant.waitForStatus(inactive, 'succeeded');
    await tenant.deactivate(inactive);
    const stranger = await WebhookWorkspace.create(service);

    const ids = [first!.id, UNKNOWN, third!.id, 'none', second!.id];
    const before = receiver.received().length;
    const results = await tenant.deliveries.redeliverMany(tenant.id, { ids }, SYSTEM);
    expect(results.map(({ id }) => id)).toEqual(ids);
    expect(results.map(({ error }) => error?.code ?? null)).toEqual([
      null,
      'NOT_FOUND',
      'INVALID_BODY',
      'NOT_FOUND',
      null,
    ]);
    const received = await receiver.waitForCount(before + 2);
    const again = received.slice(before).map(({ headers }) => headers['x-service-delivery']);
    expect(again.sort()).toEqual([first!.id, second!.id].sort());

    for (const { error } of await stranger.deliveries.redeliverMany(
      stranger.id,
      { ids: [first!.id] },
      SYSTEM,
    ))
      expect(error).toMatchObject({ code: 'NOT_FOUND' });
    const agent = await service.make.agent(tenant.workspace, { role: 'AGENT' });
    const asAgent = { type: 'agent' as const, id: agent.id };
    await expectRefusal(tenant.deliveries.redeliverMany(tenant.id, { ids }, asAgent), 'FORBIDDEN');
    for (const refused of [[], [UNKNOWN, UNKNOWN], Array.from({ length: 201 }, newId), [7]])
      await expectRefusal(
        tenant.deliveries.redeliverMany(tenant.id, { ids: refused as string[] }, SYSTEM),
        'INVALID_BODY',
      );
  });

  it('does not wait for the next retry of what is pending', async () => {
    receiver.https.respond = failing;
    await tenant.message();
    await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
    await service.query(
      `UPDATE pending_deliveries SET next_attempt_at = now() + interval '1 day' WHERE endpoint_id = $1`,
      [endpoint.id],
    );
    const pending = await tenant.waitForDelivery(endpoint, 'waits', ({ attempts }) => attempts.length === 1);
    await expectRedelivered(pending);
  });

  it('now makes the next attempt of what is pending, and leaves the others', async () => {
    receiver.https.respond = failing;
    await tenant.message();
    await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
    const postpone = () =>
      service.query(
        `UPDATE pending_deliveries SET next_attempt_at = now() + interval '1 day' WHERE endpoint_id = $1`,
        [endpoint.id],
      );
    await postpone();
    const pending = await tenant.waitForDelivery(endpoint, 'waits', ({ attempts }) => attempts.length === 1);
    expect(await tenant.retryNow(pending)).toMatchObject({ id: pending.id, status: 'pending' });
    await tenant.waitForDelivery(endpoint, 'has failed twice', ({ attempts }) => attempts.length === 2);
    expect(await deliveriesOf(service, endpoint)).toMatchObject([{ round: 1, attempt_count: 2 }]);

    await postpone();
    receiver.https.respond = working;
    await Promise.all([tenant.retryNow(pending), tenant.retryNow(pending)]);
    const done = await tenant.waitForDelivery(endpoint, 'arrives', ({ status }) => status === 'succeeded');
    expect(done.attempts).toHaveLength(3);
    expect(await deliveriesOf(service, endpoint)).toMatchObject([{ round: 1, attempt_count: 3 }]);
    await expectRefusal(tenant.retryNow(pending), 'INVALID_BODY');
    const entries = await tenant.auditOf(pending);
    expect(entries.map(({ action }) => action)).toContain('webhook_delivery.brought_forward');
    expect(entries.length).toBeGreaterThanOrEqual(2);
    expect(entries.length).toBeLessThanOrEqual(3);
  });

  it('now is for what is pending, of an active endpoint of the workspace, and for who may redeliver', async () => {
    receiver.https.respond = failing;
    await tenant.message();
    const pending = await tenant.waitForDelivery(
      endpoint,
      'has failed',
      ({ attempts }) => attempts.length > 0,
    );
    const agent = await service.make.agent(tenant.workspace, { role: 'AGENT' });
    await expectRefusal(
      tenant.deliveries.retryNow(tenant.id, pending.id, { type: 'agent', id: agent.id }),
      'FORBIDDEN',
    );
    const stranger = await WebhookWorkspace.create(service);
    await expectRefusal(stranger.retryNow(pending), 'NOT_FOUND');
    await expectRefusal(tenant.retryNow({ id: UNKNOWN }), 'NOT_FOUND');
    await tenant.deactivate(endpoint);
    await expectRefusal(tenant.retryNow(pending), 'INVALID_BODY');
    await tenant.activate(endpoint);
    await expectRefusal(tenant.retryNow(pending), 'INVALID_BODY');
  });

  it('knows no delivery of another workspace, nor of an endpoint that is deleted', async () => {
    await tenant.message();
    const [delivery] = await tenant.waitForStatus(endpoint, 'succeeded');
    const stranger = await WebhookWorkspace.create(service);
    await expectRefusal(stranger.redeliver(delivery!), 'NOT_FOUND');
    await expectRefusal(tenant.redeliver({ id: UNKNOWN }), 'NOT_FOUND');
    await tenant.endpoints.delete(tenant.id, endpoint.id, { type: 'system', id: null });
    await expectRefusal(tenant.redeliver(delivery!), 'NOT_FOUND');
    expect(receiver.received()).toHaveLength(1);
  });
});

/** Returns an id as if it had been made at a moment. */
function idAt(moment: Date): string {
  return idFloor(moment).slice(0, 13) + newId().slice(13);
}
