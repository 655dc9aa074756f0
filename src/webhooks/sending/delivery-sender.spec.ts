import { ServerResponse } from 'node:http';
import { createServer as createTcpServer, Server, Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { DnsStub } from '../../../test/support/dns-stub';
import { HttpsReceiver } from '../../../test/support/https-receiver';
import { itOnLinux } from '../../../test/support/left-out';
import { Certificate, TestCa } from '../../../test/support/test-ca';
import { letTimePass, waitFor } from '../../../test/support/wait';
import { AddressPolicy } from '../../outgoing/address-policy';
import { AttemptOutcome } from './attempt-outcome';
import { DeliveryRequest, DeliverySender, DeliverySenderOptions } from './delivery-sender';
import { HostResolver } from '../../outgoing/host-resolver';
import { generateEndpointSecret, serviceSignature, standardSignature } from './signature';

const NAME = 'hooks.example.com';
const LOOPBACK = 'loopback addresses beside 127.0.0.1';
const LIMIT = 16 * 1024;
/** Timeout of attempts that are meant to time out, at any stage. */
const SHORT_MS = 300;
/**
 * Timeout of attempts that are meant to time out at one stage. The earlier stages must end in time on a busy
 * machine too.
 */
const PAST_SETUP_MS = 1_500;

describe('DeliverySender', () => {
  let ca: TestCa;
  let certificate: Certificate;
  let dns: DnsStub;
  let receiver: HttpsReceiver;
  const senders: DeliverySender[] = [];
  const rawServers: Server[] = [];
  const rawSockets: Socket[] = [];

  beforeAll(async () => {
    ca = await TestCa.create();
    certificate = await ca.issue([NAME, '127.0.0.1']);
    dns = await DnsStub.start();
  });

  beforeEach(async () => {
    receiver = await HttpsReceiver.start(certificate);
    dns.set(NAME, { A: ['127.0.0.1'] });
    dns.questions.length = 0;
  });

  afterEach(async () => {
    await receiver.stop();
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    for (const socket of rawSockets.splice(0)) socket.destroy();
    await Promise.all(rawServers.splice(0).map((server) => new Promise((done) => server.close(done))));
  });

  const makeSender = (options: Partial<DeliverySenderOptions> = {}): DeliverySender => {
    const resolver = new HostResolver({ servers: [dns.server], timeoutMs: 2000, hostsFile: '/nonexistent' });
    const sender = new DeliverySender({
      policy: new AddressPolicy(['127.0.0.0/8']),
      extraCa: ca.pem,
      resolver,
      timeoutMs: 5000,
      ...options,
    });
    senders.push(sender);
    return sender;
  };

  const delivery = (changes: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
    deliveryId: '0199a1b2-0000-7000-8000-000000000001',
    url: `https://${NAME}:${receiver.port}/hooks?team=a%20b`,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
    eventType: 'message.created',
    sequence: '7',
    data: '{"conversationId":"c1","message":{"id":"m1","body":"Zoë 漢字 </script>"}}',
    ...changes,
  });

  /** Starts a server on which the test writes the bytes of the response, and returns its URL. */
  const listen = async (server: Server, host = '127.0.0.1', port = 0): Promise<string> => {
    rawServers.push(server);
    server.on('connection', (socket: Socket) => rawSockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    return `https://${NAME}:${(server.address() as { port: number }).port}/`;
  };
  const rawTls = (onSocket: (socket: TLSSocket) => void): Promise<string> =>
    listen(
      createTlsServer(certificate, (socket) => {
        socket.on('error', () => undefined);
        onSocket(socket);
      }),
    );
  const rawTcp = (onSocket: (socket: Socket) => void): Promise<string> => listen(createTcpServer(onSocket));

  const expectFailure = (outcome: AttemptOutcome, error: string, statusCode: number | null = null) => {
    expect(outcome).toMatchObject({ kind: 'failed', error, statusCode });
    expect(outcome.errorMessage).toEqual(expect.any(String));
    if (statusCode === null) expect(outcome.response).toBeNull();
  };

  describe('the request', () => {
    it.each([
      ['the previous secret', true],
      ['the new secret', false],
    ])('is signed with two secrets during a roll, x-service-signature with %s', async (_, signsService) => {
      const [secret, previous] = [generateEndpointSecret(), generateEndpointSecret()];
      await makeSender().send(delivery({ secret, previousSecret: { secret: previous, signsService } }));
      const { headers, body } = receiver.lastRequest;

      const timestamp = Number(headers['webhook-timestamp']);
      const signatures = [secret, previous].map((one) =>
        standardSignature(one, headers['webhook-id'] as string, timestamp, body),
      );
      expect(headers['webhook-signature']).toBe(signatures.join(' '));
      expect(headers['x-service-signature']).toBe(serviceSignature(signsService ? previous : secret, body));
      for (const one of [secret, previous])
        expect(() => new Webhook(one).verify(body, headers as Record<string, string>)).not.toThrow();
      expect(() =>
        new Webhook(generateEndpointSecret()).verify(body, headers as Record<string, string>),
      ).toThrow('No matching signature');
    });

    it('is a POST with exactly the agreed headers and envelope', async () => {
      const secret = generateEndpointSecret();
      const request = delivery({ secret });
      const outcome = await makeSender().send(request);
      const received = receiver.lastRequest;

      expect(outcome.kind).toBe('succeeded');
      expect(received).toMatchObject({ method: 'POST', path: '/hooks?team=a%20b', servername: NAME });
      expect(received.body.toString()).toBe(
        `{"event":"message.created","deliveredAt":"${outcome.at.toISOString()}","data":${request.data}}`,
      );
      expect(received.headers).toEqual({
        host: `${NAME}:${receiver.port}`,
        connection: 'keep-alive',
        'content-length': String(received.body.length),
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1.0',
        'x-service-event': 'message.created',
        'x-service-signature': serviceSignature(secret, received.body),
        'x-service-delivery': request.deliveryId,
        'x-service-sequence': '7',
        'webhook-id': request.deliveryId,
        'webhook-timestamp': String(Math.floor(outcome.at.getTime() / 1000)),
        'webhook-signature': expect.stringMatching(/^v1,/),
      });
      expect(new Webhook(secret).verify(received.body, received.headers as Record<string, string>)).toEqual(
        JSON.parse(received.body.toString()),
      );
    });

    it('has a new timestamp and signature on every attempt', async () => {
      const sender = makeSender();
      await sender.send(delivery());
      await letTimePass(2);
      await sender.send(delivery());
      const [first, second] = receiver.requests;
      expect(second?.body).not.toEqual(first?.body);
      expect(second?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature']);
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    });

    it('has no sequence header for an event without a sequence', async () => {
      await makeSender().send(delivery({ sequence: null }));
      expect(receiver.lastRequest.headers).not.toHaveProperty('x-service-sequence');
    });

    it("ignores the environment's proxies", async () => {
      const proxy = await HttpsReceiver.start(certificate);
      const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
      const saved = variables.map((name) => [name, process.env[name]] as const);
      for (const name of variables) process.env[name] = `https://127.0.0.1:${proxy.port}`;
      process.env.NODE_USE_ENV_PROXY = '1';
      try {
        expect((await makeSender().send(delivery())).kind).toBe('succeeded');
      } finally {
        delete process.env.NODE_USE_ENV_PROXY;
        for (const [name, value] of saved) {
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
        await proxy.stop();
      }
      expect(proxy.connections).toBe(0);
      expect(receiver.requests).toHaveLength(1);
    });
  });

  describe('the response', () => {
    it.each([200, 201, 202, 204, 299])('%i is success', async (statusCode) => {
      receiver.respond = (response) => response.writeHead(statusCode).end();
      expect(await makeSender().send(delivery())).toMatchObject({
        kind: 'succeeded',
        statusCode,
        error: null,
        errorMessage: null,
        response: Buffer.alloc(0),
      });
    });

    it.each([400, 401, 404, 410, 429, 500, 503, 999])('%i is a failure', async (statusCode) => {
      receiver.respond = (response) => response.writeHead(statusCode).end('no');
      const outcome = await makeSender().send(delivery());
      expectFailure(outcome, 'status', statusCode);
      expect(outcome.response?.toString()).toBe('no');
    });

    it.each([301, 302, 303, 307, 308])('%i is a failure and not followed', async (statusCode) => {
      const target = await HttpsReceiver.start(certificate);
      receiver.respond = (response) =>
        response.writeHead(statusCode, { location: `https://${NAME}:${target.port}/login` }).end();
      expectFailure(await makeSender().send(delivery()), 'redirect', statusCode);
      await target.stop();
      expect(target.connections).toBe(0);
    });

    it('is kept as bytes: with NUL, not UTF-8, compressed', async () => {
      const bytes = Buffer.from([0, 255, 254, 10, 0]);
      receiver.respond = (response) => response.end(bytes);
      expect((await makeSender().send(delivery())).response).toEqual(bytes);

      const bomb = gzipSync(Buffer.alloc(5_000_000));
      expect(bomb.length).toBeLessThan(LIMIT);
      receiver.respond = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      expect((await makeSender().send(delivery())).response).toEqual(bomb);
    });

    it.each([LIMIT - 1, LIMIT])('of %i bytes is kept whole, and so is its connection', async (length) => {
      receiver.respond = (response) => response.end(Buffer.alloc(length, 'x'));
      const sender = makeSender();
      expect((await sender.send(delivery())).response).toHaveLength(length);
      expect((await sender.send(delivery())).response).toHaveLength(length);
      expect(receiver.connections).toBe(1);
    });

    it('of more than 16 KiB is cut there, and its connection dropped', async () => {
      receiver.respond = (response) => response.end(Buffer.alloc(LIMIT + 1, 'x'));
      const sender = makeSender();
      expect(await sender.send(delivery())).toMatchObject({ kind: 'succeeded', statusCode: 200 });
      expect((await sender.send(delivery())).response).toEqual(Buffer.alloc(LIMIT, 'x'));
      expect(receiver.connections).toBe(2);
    });

    it('without an end is read only as far as it is kept', async () => {
      let sent = 0;
      const closed = new Promise<void>((resolve) => {
        receiver.respond = (response) => {
          const chunk = Buffer.alloc(64 * 1024, 'x');
          const pump = () => {
            while (!response.destroyed && response.write(chunk)) sent += chunk.length;
          };
          response.on('drain', pump).on('close', resolve);
          pump();
        };
      });
      const outcome = await makeSender().send(delivery());
      expect(outcome).toMatchObject({ kind: 'succeeded', statusCode: 200 });
      expect(outcome.response).toHaveLength(LIMIT);
      await closed;
      expect(sent).toBeLessThan(50_000_000);
    });

    it('with a slow body succeeds by its status, with the bytes that arrived in time', async () => {
      receiver.respond = (response) => {
        response.write('first');
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      };
      const outcome = await makeSender({ timeoutMs: PAST_SETUP_MS }).send(delivery());
      expect(outcome).toMatchObject({ kind: 'succeeded', statusCode: 200 });
      expect(outcome.response?.toString()).toMatch(/^first\.+$/);
    });

    it.each([
      [200, 'succeeded'],
      [500, 'failed'],
    ])('%i whose body is cut off is decided by its head', async (statusCode, kind) => {
      const url = await rawTls((socket) => {
        socket.once('data', () => {
          socket.write(`HTTP/1.1 ${statusCode} Whatever\r\ncontent-length: 100\r\n\r\npart`);
          setTimeout(() => socket.destroy(), 20);
        });
      });
      const outcome = await makeSender().send(delivery({ url }));
      expect(outcome).toMatchObject({ kind, statusCode });
      expect(outcome.response?.toString()).toBe('part');
    });

    it('may have non-ASCII bytes in its headers', async () => {
      const url = await rawTls((socket) => {
        socket.once('data', () => {
          socket.write(
            Buffer.from(
              'HTTP/1.1 200 \xe4\xff\r\nx-odd: \xe4\xf6\xfc\xff\r\ncontent-length: 2\r\n\r\nok',
              'latin1',
            ),
          );
        });
      });
      expect((await makeSender().send(delivery({ url }))).kind).toBe('succeeded');
    });
  });

  /** Starts a receiver that answers each request with these bytes, in pieces 30 ms apart. */
  const answering = async (...pieces: (string | Buffer)[]) => {
    let connections = 0;
    const url = await rawTls((socket) => {
      connections++;
      socket.on('data', () => {
        pieces.forEach((piece, number) => {
          if (number === 0) socket.write(piece);
          else setTimeout(() => !socket.destroyed && socket.write(piece), number * 30);
        });
      });
    });
    return { url, connections: () => connections };
  };
  const HEAD = 'HTTP/1.1 200 OK\r\n';
  const OK = `${HEAD}Content-Length: 2\r\n\r\nok`;
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const CHUNKS = '2\r\nok\r\n0\r\n\r\n';

  describe('a receiver that is right', () => {
    it.each<[string, ...string[]]>([
      ['100 and the answer at once', CONTINUE + OK],
      ['100, and the answer later', CONTINUE, OK],
      ['100 in two pieces', CONTINUE.slice(0, 20), CONTINUE.slice(20) + OK],
      ['100 twice', CONTINUE + CONTINUE + OK],
      ['100 with headers', `HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n${OK}`],
      ['100 with a length', `HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n${OK}`],
      ['100 without a reason', `HTTP/1.1 100\r\n\r\n${OK}`],
      ['102 and 103 with headers', `HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nLink: </a>\r\n\r\n`, OK],
      ['199', `HTTP/1.1 199 X\r\n\r\n${OK}`],
      ['a hundred of 100', CONTINUE.repeat(100) + OK],
    ])('takes unasked interim answers (public report 16): %s', async (_, ...pieces) => {
      const { url, connections } = await answering(...pieces);
      const sender = makeSender();
      for (let n = 0; n < 2; n++) {
        const outcome = await sender.send(delivery({ url }));
        expect(outcome).toMatchObject({ kind: 'succeeded', statusCode: 200 });
        expect(outcome.response?.toString()).toBe('ok');
      }
      expect(connections()).toBe(1);
    });

    it('gets no end of interim answers taken', async () => {
      const { url } = await answering(CONTINUE.repeat(1_001) + OK);
      const outcome = await makeSender().send(delivery({ url }));
      expectFailure(outcome, 'connection');
      expect(outcome.errorMessage).toBe('More than 1000 interim answers (1xx) came instead of a final one');
    });

    it.each<[string, ...string[]]>([
      ['a folded field', `${HEAD}X-Long: a\r\n b\r\nContent-Length: 2\r\n\r\nok`],
      ['a field folded with tabs', `${HEAD}X-Long: a\r\n\tb\r\n\t c\r\nContent-Length: 2\r\n\r\nok`],
      ['a folded last field', `${HEAD}Content-Length: 2\r\nX-Long: a\r\n b\r\n\r\nok`],
      ['a folded field in pieces', `${HEAD}X-Long: a\r\n`, ` b\r\nContent-Le`, 'ngth: 2\r\n\r\no', 'k'],
      ['100 and a folded field', `${CONTINUE}${HEAD}X-Long: a\r\n b\r\nContent-Length: 2\r\n\r\nok`],
      ['a length beside chunks', `${HEAD}Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
      ['chunks beside a length', `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n${CHUNKS}`],
      [
        'both in pieces',
        `${HEAD}Transfer-Encoding: chunked\r\n`,
        `Content-Length: 0\r\n\r\n2\r\no`,
        'k\r\n0\r\n\r\n',
      ],
      ['lines without CR', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
      ['a control character', `${HEAD}X-A: b\x01c\r\nContent-Length: 2\r\n\r\nok`],
      ['two equal lengths (envoy#3648)', `${HEAD}Content-Length: 2\r\ncontent-length: 2\r\n\r\nok`],
      ['a list of equal lengths (python-hyper/h11#92)', `${HEAD}Content-Length: 2, 2\r\n\r\nok`],
      ['a space before a colon', `${HEAD}X-A : b\r\nContent-Length : 2\r\n\r\nok`],
      ['a field without a colon', `${HEAD}Garbage\r\n folded\r\nContent-Length: 2\r\n\r\nok`],
      ['names that are none', `${HEAD}X A: b\r\n: c\r\nX[1]: d\r\nContent-Length: 2\r\n\r\nok`],
      ['a CR within a value', `${HEAD}X-A: b\rc\r\nContent-Length: 2\r\n\r\nok`],
      ['spaces in the status line (llhttp#217)', `HTTP/1.1  200  OK\r\nContent-Length: 2\r\n\r\nok`],
      ['a status line of HTTP/2', `HTTP/2 200\r\nContent-Length: 2\r\n\r\nok`],
      [
        '100 and two lengths in pieces',
        `${CONTINUE}HT`,
        `TP/1.1 200 OK\r\nContent-Length: 2\r\nConte`,
        'nt-Length: 2\r\n\r',
        '\no',
        'k',
      ],
    ])('takes loose answers, and closes their connection (public report 17): %s', async (_, ...pieces) => {
      const { url, connections } = await answering(...pieces);
      const sender = makeSender();
      for (let n = 1; n <= 2; n++) {
        const outcome = await sender.send(delivery({ url }));
        expect(outcome).toMatchObject({ kind: 'succeeded', statusCode: 200 });
        expect(outcome.response?.toString()).toBe('ok');
        expect(connections()).toBe(n);
      }
      await waitFor('the connections to close', () => sender.openConnections === 0);
    });

    it.each([
      ['two different lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`],
      ['lengths that differ in a list', `${HEAD}Content-Length: 2, 3\r\n\r\nok`],
      ['no status', 'HTTP/1.1 OK\r\n\r\n'],
      ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
      ['lines that end with CR alone', 'HTTP/1.1 200 OK\rContent-Length: 0\r\r'],
      ['no HTTP and no end of line', 'ok'],
    ])('is told that its answer is not HTTP/1.1: %s', async (_, bytes) => {
      const { url } = await answering(bytes);
      const outcome = await makeSender().send(delivery({ url }));
      expectFailure(outcome, 'connection');
      expect(outcome.errorMessage).toMatch(/^The answer is not valid HTTP\/1\.1 \(.+, HPE_\w+\)$/);
    });

    it('gets no more of a loose head read than its limit', async () => {
      const url = await rawTls((socket) => {
        socket.once('data', () => {
          const flood = () => {
            while (!socket.destroyed && socket.write('no field\r\n'.repeat(1_000))) continue;
          };
          socket.write(HEAD);
          socket.on('drain', flood);
          flood();
        });
      });
      expectFailure(await makeSender().send(delivery({ url })), 'connection');
    });

    it('reads a loose answer that arrives in thousands of pieces', async () => {
      const long = Array.from({ length: 5_000 }, (_, n) => `${n},`).join('');
      const head = `${HEAD}X-Long: ${long}\r\n b\r\nX-End: c\r\nContent-Length: 2\r\n\r\nok`;
      const url = await rawTls((socket) => {
        socket.setNoDelay(true).once('data', () => {
          for (const [piece] of head.matchAll(/.{1,10}/gs)) socket.write(piece);
        });
      });
      const outcome = await makeSender().send(delivery({ url, keepsHeaders: true }));
      expect(outcome).toMatchObject({ kind: 'succeeded', statusCode: 200 });
      expect(outcome.response?.toString()).toBe('ok');
      expect(outcome.responseHeaders).toMatch(/^x-long: 0,1,2,/);
    });

    it('reads a loose answer that ends with its connection', async () => {
      const url = await rawTls((socket) => {
        socket.once('data', () => socket.end('HTTP/1.0 500 No\r\nX-Long: a\r\n b\r\n\r\nto the end'));
      });
      const outcome = await makeSender().send(delivery({ url }));
      expectFailure(outcome, 'status', 500);
      expect(outcome.response?.toString()).toBe('to the end');
      expect(outcome.responseHeaders).toBe('x-long: a b\n');
    });

    it.each([15, 17, 20, 63])('takes %i KiB of headers (public report 18)', async (size) => {
      const { url } = await answering(
        `${HEAD}X-Pad: ${'x'.repeat(size * 1024)}\r\nContent-Length: 2\r\n\r\nok`,
      );
      expect(await makeSender().send(delivery({ url }))).toMatchObject({
        kind: 'succeeded',
        statusCode: 200,
      });
    });

    it('names the limit of the headers when they are longer (public report 18)', async () => {
      const { url } = await answering(
        `${HEAD}X-Pad: ${'x'.repeat(65 * 1024)}\r\nContent-Length: 2\r\n\r\nok`,
      );
      const outcome = await makeSender().send(delivery({ url }));
      expectFailure(outcome, 'connection');
      expect(outcome.errorMessage).toBe(
        'The head of the answer, its status line and headers, is longer than 64 KiB',
      );
    });

    it('may send headers with names that JavaScript gives a meaning', async () => {
      const { url } = await answering(
        'HTTP/1.1 500 No\r\nconstructor: a\r\n__proto__: b\r\n__proto__: c\r\nContent-Length: 2\r\n\r\nno',
      );
      const outcome = await makeSender().send(delivery({ url }));
      expectFailure(outcome, 'status', 500);
      expect(outcome.responseHeaders).toBe('constructor: a\n__proto__: b\n__proto__: c\ncontent-length: 2\n');
    });

    it.each([
      ['more than its length', `${OK}more`],
      ['a second answer', OK + OK],
      ['a body with 204', `HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok`],
      ['a broken chunk after the head', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz`],
    ])('is judged by its head when it sends %s, and its connection dropped', async (_, bytes) => {
      const { url, connections } = await answering(bytes);
      const sender = makeSender();
      const outcome = await sender.send(delivery({ url }));
      expect(outcome.kind).toBe('succeeded');
      if (outcome.statusCode === 200) expect(outcome.response?.toString()).toBe('ok');
      expect((await sender.send(delivery({ url }))).kind).toBe('succeeded');
      expect(connections()).toBe(2);
    });

    it('whose answer is followed by another one gets no further request there', async () => {
      const { url, connections } = await answering(OK, 'HTTP/1.1 500 Forged\r\nContent-Length: 0\r\n\r\n');
      const sender = makeSender();
      await sender.send(delivery({ url }));
      await waitFor('the connection to be dropped', () => sender.openConnections === 0);
      expect(await sender.send(delivery({ url }))).toMatchObject({ statusCode: 200 });
      expect(connections()).toBe(2);
    });

    it.each([
      ['Connection: close', 2],
      ['Keep-Alive: timeout=1', 2],
      ['Keep-Alive: timeout=30', 1],
    ])('is obeyed about the connection: %s', async (header, expected) => {
      const { url, connections } = await answering(`${HEAD}${header}\r\nContent-Length: 2\r\n\r\nok`);
      const sender = makeSender();
      for (let n = 0; n < 2; n++) expect((await sender.send(delivery({ url }))).kind).toBe('succeeded');
      expect(connections()).toBe(expected);
    });

    it.each([
      ['closes', (socket: TLSSocket) => socket.end()],
      ['breaks off', (socket: TLSSocket) => socket.destroy()],
    ])(
      'gets the request on a new connection when it %s a kept one (nodejs/node#47130, hyperium/hyper#3553)',
      async (_, close) => {
        let connections = 0;
        const url = await rawTls((socket) => {
          connections++;
          socket.once('data', () => {
            socket.write(OK);
            socket.once('data', () => close(socket));
          });
        });
        const sender = makeSender();
        for (let n = 1; n <= 3; n++) {
          const outcome = await sender.send(delivery({ url }));
          expect(outcome).toMatchObject({ kind: 'succeeded', statusCode: 200 });
          expect(connections).toBe(n);
        }
      },
    );

    it('gets the request no third time when it closes the new connection too', async () => {
      let requests = 0;
      const url = await rawTls((socket) => {
        socket.on('data', () => {
          requests++;
          if (requests === 1) socket.write(OK);
          else socket.destroy();
        });
      });
      const sender = makeSender();
      await sender.send(delivery({ url }));
      expectFailure(await sender.send(delivery({ url })), 'connection');
      expect(requests).toBe(3);
    });

    it('gets the request no second time when it breaks off within its answer', async () => {
      let requests = 0;
      const url = await rawTls((socket) => {
        socket.on('data', () => {
          requests++;
          if (requests === 1) socket.write(OK);
          else socket.end('HTTP/1.1 2');
        });
      });
      const sender = makeSender();
      await sender.send(delivery({ url }));
      expectFailure(await sender.send(delivery({ url })), 'connection');
      expect(requests).toBe(2);
    });

    it('gets no connection kept where there is no room', async () => {
      const sender = makeSender({ maxKept: 1 });
      await Promise.all([sender.send(delivery()), sender.send(delivery()), sender.send(delivery())]);
      await waitFor('the others to close', () => sender.openConnections <= 1);
      await sender.send(delivery());
      expect(receiver.lastRequest.headers.connection).toBe('close');
      await waitFor('the last one to close', () => sender.openConnections === 0);
    });
  });

  describe('failures', () => {
    it('a receiver that never answers is a timeout, and the connection closed', async () => {
      const closed = new Promise((resolve) => {
        receiver.respond = (response) => response.on('close', resolve);
      });
      const outcome = await makeSender({ timeoutMs: PAST_SETUP_MS }).send(delivery());
      expectFailure(outcome, 'timeout');
      expect(outcome.errorMessage).toContain('after the request was sent');
      await closed;
    });

    it('a TLS handshake that hangs is a timeout', async () => {
      const url = await rawTcp(() => undefined);
      const outcome = await makeSender({ timeoutMs: PAST_SETUP_MS }).send(delivery({ url }));
      expectFailure(outcome, 'timeout');
      expect(outcome.errorMessage).toContain('TLS');
    });

    it('a name server that hangs counts against the same limit', async () => {
      dns.set('hanging.example.com', { A: 'SILENCE', AAAA: 'SILENCE' });
      const outcome = await makeSender({ timeoutMs: SHORT_MS }).send(
        delivery({ url: 'https://hanging.example.com/' }),
      );
      expectFailure(outcome, 'timeout');
      expect(outcome.errorMessage).toContain('resolving');
    });

    it('headers dripping past the limit are a timeout', async () => {
      const url = await rawTls((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\n');
          const drip = setInterval(() => socket.write('x: y\r\n'), 20);
          socket.on('close', () => clearInterval(drip));
        });
      });
      expectFailure(await makeSender({ timeoutMs: SHORT_MS }).send(delivery({ url })), 'timeout');
    });

    it.each(['100', '103'])('interim answers (%s) without end are a timeout', async (status) => {
      const url = await rawTls((socket) => {
        socket.once('data', () => {
          const flood = setInterval(() => socket.write(`HTTP/1.1 ${status} Wait\r\n\r\n`), 5);
          socket.on('close', () => clearInterval(flood));
        });
      });
      expectFailure(await makeSender({ timeoutMs: PAST_SETUP_MS }).send(delivery({ url })), 'timeout');
    });

    it.each([
      ['a megabyte of headers', `HTTP/1.1 200 OK\r\n${`x-pad: ${'y'.repeat(1000)}\r\n`.repeat(1000)}\r\n`],
      ['one header of a megabyte', `HTTP/1.1 200 OK\r\nx-pad: ${'y'.repeat(1_000_000)}\r\n\r\n`],
      ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['an upgrade', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ])('%s is a broken connection', async (_, bytes) => {
      const url = await rawTls((socket) => {
        socket.once('data', () => socket.write(bytes));
      });
      expectFailure(await makeSender().send(delivery({ url })), 'connection');
    });

    it('a reset before the response is a broken connection', async () => {
      const url = await rawTls((socket) => {
        socket.once('data', () => socket.destroy());
      });
      expectFailure(await makeSender().send(delivery({ url })), 'connection');
    });

    it('a receiver that hangs up right after the handshake is a broken connection', async () => {
      let connections = 0;
      const url = await rawTls((socket) => {
        connections++;
        socket.destroy();
      });
      expectFailure(await makeSender().send(delivery({ url })), 'connection');
      expect(connections).toBe(1);
    });

    it('a closed port is a failed connect', async () => {
      const url = await rawTcp(() => undefined);
      await new Promise((done) => rawServers.pop()?.close(done));
      const outcome = await makeSender().send(delivery({ url }));
      expectFailure(outcome, 'connect');
      expect(outcome.errorMessage).toBe('Could not connect (ECONNREFUSED)');
    });

    it.each([
      ['NXDOMAIN', undefined],
      ['SERVFAIL', { A: 'SERVFAIL', AAAA: 'SERVFAIL' }],
      ['no address', {}],
    ] as const)('%s is a DNS failure', async (message, answers) => {
      const name = `${message.replace(' ', '-').toLowerCase()}.example.com`;
      if (answers) dns.set(name, answers);
      const outcome = await makeSender().send(delivery({ url: `https://${name}/` }));
      expectFailure(outcome, 'dns');
      expect(outcome.errorMessage).toContain(message);
    });

    it('do not affect other deliveries to the same receiver', async () => {
      receiver.respond = (response, { path }) => {
        if (path === '/hang') return;
        setTimeout(() => response.end('ok'), 50);
      };
      const sender = makeSender({ timeoutMs: PAST_SETUP_MS });
      const base = `https://${NAME}:${receiver.port}`;
      const outcomes = await Promise.all(
        ['/hang', '/1', '/2', '/3'].map((path) => sender.send(delivery({ url: base + path }))),
      );
      expect(outcomes.map(({ error }) => error)).toEqual(['timeout', null, null, null]);
    });

    it('an internal error, as a closed sender, is thrown', async () => {
      const sender = makeSender();
      await sender.close();
      await expect(sender.send(delivery())).rejects.toThrow('The sender is closed');
    });
  });

  describe('TLS', () => {
    const answersTo = async (served: Certificate, options: Partial<DeliverySenderOptions> = {}) => {
      const other = await HttpsReceiver.start(served);
      const sender = makeSender(options);
      const url = `https://${NAME}:${other.port}/`;
      // Twice: a resumed session must not slip past the checks.
      const outcomes = [await sender.send(delivery({ url })), await sender.send(delivery({ url }))];
      await other.stop();
      expect(other.requests).toEqual([]);
      return outcomes;
    };

    it.each([
      [
        'for another name',
        () => ca.issue(['other.example.com', '127.0.0.1']),
        'altnames: Host: hooks.example.com.',
      ],
      ['expired', () => ca.issue([NAME], { expired: true }), 'certificate has expired'],
      ['self-signed', () => TestCa.selfSigned([NAME]), 'self-signed certificate'],
    ])('refuses a certificate %s', async (_, issue, message) => {
      for (const outcome of await answersTo(await issue())) {
        expectFailure(outcome, 'tls');
        expect(outcome.errorMessage).toContain(message);
      }
    });

    it("refuses the receiver's authority unless it is added", async () => {
      for (const outcome of await answersTo(certificate, { extraCa: undefined }))
        expectFailure(outcome, 'tls');
    });

    it('refuses TLS 1.1 and plain HTTP', async () => {
      const old = await listen(
        createTlsServer({
          ...certificate,
          minVersion: 'TLSv1',
          maxVersion: 'TLSv1.1',
          ciphers: 'ALL@SECLEVEL=0',
        }),
      );
      expectFailure(await makeSender().send(delivery({ url: old })), 'tls');
      const plain = await rawTcp((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      });
      expectFailure(await makeSender().send(delivery({ url: plain })), 'tls');
    });

    it("says what fails in a sentence, with the library's text beside it (public report 23)", async () => {
      const messageOf = async (url: string) => (await makeSender().send(delivery({ url }))).errorMessage;
      const tls = (options: object) => listen(createTlsServer({ ...certificate, ...options }));
      expect(await messageOf(await tls({ ALPNProtocols: ['h2'] }))).toBe(
        'The receiver does not offer HTTP/1.1, over which webhooks are sent (tlsv1 alert no application protocol)',
      );
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' };
      expect(await messageOf(await tls(old))).toBe(
        'The receiver offers neither TLS 1.2 nor TLS 1.3 (tlsv1 alert protocol version)',
      );
      expect(await messageOf(await tls({ requestCert: true, rejectUnauthorized: true }))).toBe(
        'The receiver asks for a client certificate, and the service has none to show (tlsv13 alert certificate required)',
      );
      const plain = await rawTcp((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      });
      expect(await messageOf(plain)).toBe(
        'The port of the receiver does not speak TLS, perhaps plain HTTP (wrong version number)',
      );
      const hangsUp = await rawTcp((socket) => socket.destroy());
      expect(await messageOf(hangsUp)).toMatch(
        /^The receiver closed the connection during the TLS handshake \(.+\)$/,
      );
      const { url } = await answering('SSH-2.0-OpenSSH_9.2\r\n');
      expect(await messageOf(url)).toMatch(/^The answer is not valid HTTP\/1\.1 \(.+, HPE_\w+\)$/);
    });

    it('offers only http/1.1', async () => {
      const protocols: (string | false | null)[] = [];
      const server = createTlsServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
        protocols.push(socket.alpnProtocol);
        socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
      });
      expect((await makeSender().send(delivery({ url: await listen(server) }))).kind).toBe('succeeded');
      expect(protocols).toEqual(['http/1.1']);
    });

    itOnLinux(LOOPBACK, 'checks an IP literal against the certificate, without SNI', async () => {
      const outcome = await makeSender().send(delivery({ url: `https://127.0.0.1:${receiver.port}/` }));
      expect(outcome.kind).toBe('succeeded');
      expect(receiver.lastRequest).toMatchObject({ servername: null });
      expect(receiver.lastRequest.headers.host).toBe(`127.0.0.1:${receiver.port}`);
      const elsewhere = await HttpsReceiver.start(certificate, '127.0.0.2');
      expectFailure(
        await makeSender().send(delivery({ url: `https://127.0.0.2:${elsewhere.port}/` })),
        'tls',
      );
      await elsewhere.stop();
    });
  });

  describe('addresses', () => {
    it.each([
      ['a private literal', 'https://10.0.0.1/'],
      ['a loopback literal in disguise', 'https://0x7f000001/'],
      ['the metadata service', 'https://[fd00:ec2::254]/'],
      ['plain http', 'http://example.com/'],
      ['a local name', 'https://localhost/'],
    ])('refuses %s before any lookup', async (_, url) => {
      const outcome = await makeSender({ policy: new AddressPolicy([]) }).send(delivery({ url }));
      expectFailure(outcome, 'address_refused');
      expect(dns.questions).toEqual([]);
    });

    it.each([
      ['mixed', { A: ['127.0.0.1', '10.0.0.1'] }],
      ['mixed across families', { A: ['127.0.0.1'], AAAA: ['::ffff:169.254.169.254'] }],
      ['metadata', { A: ['127.0.0.1'], AAAA: ['fd00:ec2::254'] }],
      ['a CNAME to a private name', { A: ['10.0.0.1'], alias: 'db.internal' }],
    ])('refuses an answer that is %s, whole', async (_, answers) => {
      dns.set('mixed.example.com', answers);
      const outcome = await makeSender().send(
        delivery({ url: `https://mixed.example.com:${receiver.port}/` }),
      );
      expectFailure(outcome, 'address_refused');
      expect(outcome.errorMessage).toBe('mixed.example.com resolves to an address that is not public');
      expect(receiver.connections).toBe(0);
    });

    it('resolves a name once for each connection and connects to that address', async () => {
      await makeSender().send(delivery());
      expect(dns.questions.sort()).toEqual([`A ${NAME}`, `AAAA ${NAME}`]);
      expect(receiver.lastRequest.address).toBe('127.0.0.1');
    });

    it('vets a name again for every connection', async () => {
      receiver.respond = (response) => response.writeHead(200, { connection: 'close' }).end();
      const sender = makeSender();
      expect((await sender.send(delivery())).kind).toBe('succeeded');
      dns.set(NAME, { A: ['10.0.0.1'] });
      expectFailure(await sender.send(delivery()), 'address_refused');
      expect(receiver.requests).toHaveLength(1);
    });

    itOnLinux(LOOPBACK, 'tries the next address when one fails', async () => {
      // Only 127.0.0.1 listens; the resolver decides the order.
      dns.set(NAME, { A: ['127.0.0.2', '127.0.0.3', '127.0.0.1'] });
      expect((await makeSender().send(delivery())).kind).toBe('succeeded');
      expect(receiver.lastRequest).toMatchObject({ servername: NAME, address: '127.0.0.1' });
    });

    itOnLinux(LOOPBACK, 'leaves time for the next address when one hangs', async () => {
      await listen(createTcpServer(), '127.0.0.2', receiver.port);
      dns.set(NAME, { A: ['127.0.0.2', '127.0.0.1'] });
      const outcome = await makeSender({ timeoutMs: 2 * PAST_SETUP_MS }).send(delivery());
      expect(outcome.kind).toBe('succeeded');
    });
  });

  describe('connections', () => {
    it('are reused; the setup is measured once', async () => {
      const sender = makeSender();
      const first = await sender.send(delivery());
      const second = await sender.send(delivery());
      const measured = expect.any(Number);
      expect(first.phases).toEqual({
        lookupMs: measured,
        connectMs: measured,
        tlsMs: measured,
        firstByteMs: measured,
      });
      expect(second.phases).toEqual({ lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: measured });
      expect(receiver.connections).toBe(1);
    });

    it('are one for each concurrent delivery', async () => {
      const held: ServerResponse[] = [];
      receiver.respond = (response) => {
        held.push(response);
        if (held.length === 20) for (const one of held) one.end();
      };
      const sender = makeSender();
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => sender.send(delivery())));
      expect(outcomes.every(({ kind }) => kind === 'succeeded')).toBe(true);
      expect(receiver.connections).toBe(20);
    });

    it('past their age take no further request, and lose none in flight', async () => {
      const release: (() => void)[] = [];
      receiver.respond = (response, { path }) => {
        if (path === '/slow') release.push(() => response.end('slow'));
        else response.end('ok');
      };
      const sender = makeSender({ maxAgeMs: PAST_SETUP_MS });
      const base = `https://${NAME}:${receiver.port}`;
      await sender.send(delivery({ url: base }));
      const slow = sender.send(delivery({ url: `${base}/slow` }));
      await letTimePass(PAST_SETUP_MS);

      await sender.send(delivery({ url: base }));
      release.forEach((answer) => answer());
      expect((await slow).response?.toString()).toBe('slow');
      await sender.send(delivery({ url: base }));
      expect(receiver.requests.map(({ connection, path }) => [connection, path])).toEqual([
        [1, '/'],
        [1, '/slow'],
        [2, '/'],
        [2, '/'],
      ]);
    });

    it('past their age are vetted again, even when always busy', async () => {
      const sender = makeSender({ maxAgeMs: 200 });
      expect((await sender.send(delivery())).kind).toBe('succeeded');
      dns.set(NAME, { A: ['10.0.0.1'] });
      const refused = await waitFor(
        'a failure',
        async () => {
          const outcome = await sender.send(delivery());
          return outcome.kind === 'failed' && outcome;
        },
        2_000,
      );
      expectFailure(refused, 'address_refused');
    });

    itOnLinux(LOOPBACK, 'leave nothing behind once idle, refused or failed', async () => {
      const sender = makeSender({ connectionIdleMs: 50, maxAgeMs: 50 });
      await Promise.all([
        sender.send(delivery()),
        sender.send(delivery({ url: `https://127.0.0.1:${receiver.port}/` })),
        sender.send(delivery({ url: 'https://missing.example.com/' })),
        sender.send(delivery({ url: 'https://127.0.0.3:9443/' })),
      ]);
      await waitFor('every connection to close', () => sender.openConnections === 0, 5_000);
      expect((await sender.send(delivery())).kind).toBe('succeeded');
    });

    it('are not replaced after a timeout', async () => {
      const sender = makeSender({ timeoutMs: PAST_SETUP_MS });
      const closed = new Promise((resolve) => {
        receiver.respond = (response) => response.on('close', resolve);
      });
      expectFailure(await sender.send(delivery()), 'timeout');
      await closed;
      expect(dns.questions.sort()).toEqual([`A ${NAME}`, `AAAA ${NAME}`]);
      receiver.respond = (response) => response.end();
      // The next delivery finds no connection that was made in the meantime.
      const next = await sender.send(delivery());
      expect(next).toMatchObject({ kind: 'succeeded', phases: { tlsMs: expect.any(Number) } });
      expect(receiver.connections).toBe(2);
    });

    it('are replaced when they are lost before a request is sent', async () => {
      const sender = makeSender();
      await sender.send(delivery());
      receiver.closeConnections();
      const outcome = await sender.send(delivery());
      expect(outcome.kind).toBe('succeeded');
      expect(outcome.phases.tlsMs).toEqual(expect.any(Number));
      expect(receiver.connections).toBe(2);
      expect(receiver.requests).toHaveLength(2);
    });

    it('are closed only after the deliveries on them', async () => {
      receiver.respond = (response) => setTimeout(() => response.end('late'), 100);
      const sender = makeSender();
      const sending = sender.send(delivery());
      await sender.close();
      expect((await sending).response?.toString()).toBe('late');
    });
  });
});
