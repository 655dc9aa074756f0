import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import { type EventHandler, type HandlerOptions, webhooks } from '../src/index.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const servers: Server[] = [];

afterAll(() => {
  for (const server of servers) server.close();
});

/** Starts a server, and returns its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
}

/** Makes the request of a webhook, signed as by the service. */
function webhookTo(
  url: string,
  { id = 'delivery-1', event = 'message.created', secret = SECRET } = {},
): Request {
  const now = new Date();
  const data = { conversationId: 'c-1', message: { id: 'm-1', body: 'Größe?', senderType: 'CUSTOMER' } };
  const body = JSON.stringify({ event, deliveredAt: now.toISOString(), data });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
    'x-service-sequence': '7',
  };
  return new Request(url, { method: 'POST', headers, body });
}

const send = async (request: Request) => {
  const answer = await fetch(request);
  return [answer.status, await answer.text()];
};

/** Ways in which a handler stands in a server. Each returns the address of the webhooks. */
const FRAMEWORKS: Record<string, (onEvent: EventHandler, options?: HandlerOptions) => Promise<string>> = {
  'bare Node': (onEvent, options) =>
    serve((request, response) => void webhooks.nodeHandler(SECRET, onEvent, options)(request, response)),
  Express: (onEvent, options) =>
    serve(express().post('/webhooks', webhooks.nodeHandler(SECRET, onEvent, options))),
  'Express, after a parser of raw bodies': (onEvent, options) =>
    serve(
      express()
        .use(express.raw({ type: '*/*' }))
        .post('/webhooks', webhooks.nodeHandler(SECRET, onEvent, options)),
    ),
  'a server of Request and Response': (onEvent, options) => {
    const handle = webhooks.fetchHandler(SECRET, onEvent, options);
    return serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
        void handle(
          new Request(`http://127.0.0.1${url}`, { method, headers: headers as Record<string, string>, body }),
        ).then(async (answer) => response.writeHead(answer.status).end(await answer.text()));
      });
    });
  },
};

describe.each(Object.entries(FRAMEWORKS))('a handler in %s', (_, start) => {
  it('hands on each genuine event with its delivery, and refuses others', async () => {
    const taken: unknown[] = [];
    const url = await start((event, delivery) => taken.push([event, delivery]));
    expect(await send(webhookTo(url))).toEqual([204, '']);
    expect(taken).toEqual([
      [
        expect.objectContaining({
          event: 'message.created',
          data: { conversationId: 'c-1', message: { id: 'm-1', body: 'Größe?', senderType: 'CUSTOMER' } },
        }),
        { id: 'delivery-1', sequence: 7, isTest: false },
      ],
    ]);
    const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
    expect(await send(webhookTo(url, { secret: other }))).toEqual([401, 'No secret made the signature.']);
    expect(await send(new Request(url))).toEqual([expect.any(Number), expect.any(String)]);
    expect(taken).toHaveLength(1);
  });

  it('has an event that was not handled sent again, and says why', async () => {
    const faults: unknown[] = [];
    const fault = new Error('The database is away.');
    const url = await start(() => Promise.reject(fault), { onError: (error) => faults.push(error) });
    expect(await send(webhookTo(url))).toEqual([500, 'The event was not handled.']);
    expect(faults).toEqual([fault]);
  });
});

describe('a handler', () => {
  /** Takes the webhooks of this block. */
  const receive = async (request: Request, onEvent: EventHandler, options?: HandlerOptions) =>
    (await webhooks.fetchHandler(SECRET, onEvent, options)(request)).status;
  const url = 'http://127.0.0.1/webhooks';

  it('handles a delivery once, as soon as that has succeeded', async () => {
    const handled = new Set<string>();
    const taken: string[] = [];
    let isAway = true;
    const onEvent: EventHandler = (_, { id }) => {
      if (isAway) throw new Error('The database is away.');
      taken.push(id);
    };
    const onError = () => (isAway = false);
    expect(await receive(webhookTo(url), onEvent, { handled, onError })).toBe(500);
    expect(await receive(webhookTo(url), onEvent, { handled })).toBe(204);
    expect(await receive(webhookTo(url), onEvent, { handled })).toBe(204);
    expect(await receive(webhookTo(url, { id: 'delivery-2' }), onEvent, { handled })).toBe(204);
    expect(taken).toEqual(['delivery-1', 'delivery-2']);
  });

  it('answers tests of the endpoint, and hands them on to nobody but onTest', async () => {
    const taken: string[] = [];
    const tests: string[] = [];
    const onEvent: EventHandler = ({ event }) => taken.push(event);
    const onTest: EventHandler = (_, { id, isTest }) => tests.push(`${id} ${isTest}`);
    expect(await receive(webhookTo(url, { id: 'test_1' }), onEvent)).toBe(204);
    expect(await receive(webhookTo(url, { id: 'test_2' }), onEvent, { onTest })).toBe(204);
    expect(await receive(webhookTo(url, { id: '3', event: 'webhook.test' }), onEvent, { onTest })).toBe(204);
    expect(taken).toEqual([]);
    expect(tests).toEqual(['test_2 true', '3 true']);
  });

  it.each(['delivery-2', 'test_1'])('refuses a kept webhook under the unsigned id %s', async (id) => {
    const request = webhookTo(url);
    const body = await request.text();
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { 'x-service-signature': `sha256=${signature}` };
    // The body's signature is right, so it is the id that is refused.
    expect(await webhooks.verify(body, headers, SECRET)).toEqual(JSON.parse(body));
    const taken: string[] = [];
    const onEvent: EventHandler = ({ event }) => taken.push(event);
    for (const name of ['webhook-id', 'x-service-delivery']) {
      const again = new Request(url, { method: 'POST', headers: { ...headers, [name]: id }, body });
      expect(await receive(again, onEvent, { onTest: onEvent })).toBe(401);
    }
    expect(taken).toEqual([]);
  });

  it('hands on events of types that come later', async () => {
    const taken: string[] = [];
    const onEvent: EventHandler = ({ event }) => taken.push(event);
    expect(await receive(webhookTo(url, { event: 'invoice.paid' }), onEvent)).toBe(204);
    expect(taken).toEqual(['invoice.paid']);
  });

  it('takes POST alone, and at most 1 MiB', async () => {
    const none: EventHandler = () => expect(true).toBe(false);
    expect(await receive(new Request(url), none)).toBe(405);
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect(await receive(new Request(url, { method: 'POST', body }), none)).toBe(413);
  });

  it('says that a parser came before it', async () => {
    const faults: unknown[] = [];
    const handler = webhooks.nodeHandler(SECRET, () => undefined, { onError: (error) => faults.push(error) });
    const address = await serve(express().use(express.json()).post('/webhooks', handler));
    expect(await send(webhookTo(address))).toEqual([500, 'The event was not handled.']);
    expect(faults).toEqual([
      new TypeError('The body was parsed before: let the handler come before the JSON parser.'),
    ]);
  });

  it('is not made without a secret', () => {
    for (const secret of [undefined, '', 'c2VjcmV0'])
      for (const make of [webhooks.nodeHandler, webhooks.fetchHandler])
        expect(() => make(secret as string, () => undefined)).toThrow(
          "The secret must be an endpoint's whole secret",
        );
  });
});
