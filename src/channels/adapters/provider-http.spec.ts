import { createServer as createHttpServer } from 'node:http';
import { Agent } from 'node:https';
import { AddressInfo, createServer, Server, Socket } from 'node:net';
import { HttpsReceiver } from '../../../test/support/https-receiver';
import { TestCa } from '../../../test/support/test-ca';
import { ProviderHttp, retryAfterMs } from './provider-http';

/** Limit of calls that time out before they connect. */
const SHORT_MS = 300;
/** Limit of calls that time out once they are connected: long enough to connect on a busy machine. */
const PAST_SETUP_MS = 1_500;

describe('ProviderHttp', () => {
  const http = new ProviderHttp();
  const servers: Server[] = [];
  const sockets: Socket[] = [];

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
  });
  afterAll(() => http.onApplicationShutdown());

  const listen = async (server: Server): Promise<string> => {
    servers.push(server);
    server.on('connection', (socket: Socket) => sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const post = (url: string, withinMs?: number) =>
    http.call({ method: 'POST', url, data: { text: 'Hi' } }, withinMs);

  it('returns every status as an answer, with its JSON', async () => {
    const address = await listen(
      createHttpServer((_, response) => response.writeHead(429, { 'retry-after': '5' }).end('{"ok":false}')),
    );
    expect(await post(`http://${address}/send`)).toMatchObject({
      kind: 'answered',
      status: 429,
      headers: { 'retry-after': '5' },
      body: { ok: false },
    });
  });

  it('returns a body that is no JSON as text', async () => {
    const address = await listen(createHttpServer((_, response) => response.end('<h1>Bad gateway</h1>')));
    expect(await post(`http://${address}/`)).toMatchObject({
      kind: 'answered',
      body: '<h1>Bad gateway</h1>',
    });
  });

  it('does not follow a redirect', async () => {
    const address = await listen(
      createHttpServer((_, response) => response.writeHead(307, { location: '/elsewhere' }).end()),
    );
    expect(await post(`http://${address}/`)).toMatchObject({ kind: 'answered', status: 307 });
  });

  describe('reports that nothing was sent', () => {
    it('to a closed port', async () => {
      const address = await listen(createServer());
      await new Promise((done) => servers.pop()!.close(done));
      expect(await post(`http://${address}/`)).toMatchObject({
        kind: 'unreached',
        fault: { providerCode: null, message: expect.stringContaining('ECONNREFUSED') },
      });
    });

    it('to an unknown host', async () => {
      expect(await post('http://nowhere.invalid/')).toMatchObject({ kind: 'unreached' });
    });

    it('to an address that never responds', async () => {
      expect(await post('http://192.0.2.1/', SHORT_MS)).toMatchObject({ kind: 'unreached' });
    });

    it('when the TLS handshake is cut off', async () => {
      const address = await listen(createServer((socket) => socket.once('data', () => socket.destroy())));
      expect(await post(`https://${address}/`)).toMatchObject({ kind: 'unreached' });
    });

    it('when the TLS handshake times out', async () => {
      const address = await listen(createServer((socket) => socket.resume()));
      expect(await post(`https://${address}/`, SHORT_MS)).toMatchObject({
        kind: 'unreached',
        fault: { message: expect.stringContaining('nothing within 0.3 s') },
      });
    });

    it('when the certificate is not trusted', async () => {
      const ca = await TestCa.create();
      const receiver = await HttpsReceiver.start(await ca.issue(['127.0.0.1']));
      expect(await post(`https://127.0.0.1:${receiver.port}/`)).toMatchObject({ kind: 'unreached' });
      expect(receiver.requests).toEqual([]);
      await receiver.stop();
    });
  });

  describe('reports an unknown outcome of a request', () => {
    it('that the provider read but did not answer', async () => {
      const address = await listen(createHttpServer(() => undefined));
      expect(await post(`http://${address}/`, PAST_SETUP_MS)).toMatchObject({
        kind: 'unanswered',
        fault: { message: expect.stringContaining('nothing within 1.5 s') },
      });
    });

    it('whose connection was reset', async () => {
      const address = await listen(
        createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
      );
      expect(await post(`http://${address}/`)).toMatchObject({
        kind: 'unanswered',
        fault: { message: expect.stringContaining('ECONNRESET') },
      });
    });

    it('whose reused connection was closed', async () => {
      let count = 0;
      const address = await listen(
        createHttpServer((request, response) => {
          count++;
          request.resume().once('end', () => (count === 1 ? response.end('{}') : request.socket.destroy()));
        }),
      );
      expect(await post(`http://${address}/`)).toMatchObject({ kind: 'answered' });
      expect(await post(`http://${address}/`)).toMatchObject({ kind: 'unanswered' });
      expect(sockets).toHaveLength(1);
    });

    it('over https, once the certificate is accepted', async () => {
      const ca = await TestCa.create();
      const receiver = await HttpsReceiver.start(await ca.issue(['127.0.0.1']));
      receiver.respond = (response) => response.destroy();
      const httpsAgent = new Agent({ ca: ca.pem });
      const url = `https://127.0.0.1:${receiver.port}/`;
      expect(await http.call({ method: 'POST', url, data: {}, httpsAgent })).toMatchObject({
        kind: 'unanswered',
      });
      expect(receiver.requests).toHaveLength(1);
      await receiver.stop();
    });

    it('whose response breaks off', async () => {
      const address = await listen(
        createHttpServer((_, response) => {
          response.writeHead(200, { 'content-length': '100' }).write('{');
          setTimeout(() => response.destroy(), 20);
        }),
      );
      expect(await post(`http://${address}/`)).toMatchObject({ kind: 'unanswered' });
    });

    it('whose response is endless', async () => {
      const address = await listen(createHttpServer((_, response) => response.end('x'.repeat(257 * 1024))));
      expect(await post(`http://${address}/`)).toMatchObject({ kind: 'unanswered' });
    });
  });

  it('never repeats the address, which may hold a token', async () => {
    const answer = await post('http://nowhere.invalid/bot123:secret/sendMessage');
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it.each([
    [5, 5000],
    ['7', 7000],
    [0, 0],
    [-3, 0],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
    [undefined, 0],
    [1e300, 86_400_000],
  ])('reads %p seconds to wait as %i ms', (seconds, ms) => expect(retryAfterMs(seconds)).toBe(ms));
});
