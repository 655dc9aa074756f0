import { createServer, Server, Socket } from 'node:net';
import { DnsStub } from '../../test/support/dns-stub';
import { HttpsReceiver } from '../../test/support/https-receiver';
import { itOnLinux } from '../../test/support/left-out';
import { TestCa } from '../../test/support/test-ca';
import { AddressPolicy, AddressRefused } from './address-policy';
import { DnsFailure, HostResolver } from './host-resolver';
import { ConnectionSetup, VettedConnector } from './vetted-connector';

const NAME = 'hooks.example.com';
const LOOPBACK = 'loopback addresses beside 127.0.0.1';

describe('VettedConnector', () => {
  let ca: TestCa;
  let dns: DnsStub;
  let receiver: HttpsReceiver;
  let connector: VettedConnector;
  const sockets: Socket[] = [];
  const servers: Server[] = [];

  beforeAll(async () => {
    ca = await TestCa.create();
    dns = await DnsStub.start();
    receiver = await HttpsReceiver.start(await ca.issue([NAME, '127.0.0.1']));
    connector = makeConnector(['127.0.0.0/8']);
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
    dns.questions.length = 0;
  });

  const makeConnector = (allowedNetworks: string[]): VettedConnector =>
    new VettedConnector({
      policy: new AddressPolicy(allowedNetworks),
      resolver: new HostResolver({ servers: [dns.server], timeoutMs: 2000, hostsFile: '/nonexistent' }),
      extraCa: ca.pem,
    });

  const connect = (hostname: string, { using = connector, timeoutMs = 2000 } = {}) => {
    const setup = new ConnectionSetup(performance.now() + timeoutMs);
    const { port } = receiver;
    const socket = using.open({ hostname, port, origin: `https://${hostname}:${port}` }, setup);
    socket.then(
      (ready) => sockets.push(ready),
      () => undefined,
    );
    return { setup, socket };
  };

  /** Accepts connections on the receiver's port at another address, and sends nothing. */
  const silence = async (host: string): Promise<Socket[]> => {
    const taken: Socket[] = [];
    const server = createServer((socket) => {
      taken.push(socket.on('error', () => undefined));
      sockets.push(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(receiver.port, host, resolve));
    return taken;
  };

  it('connects to the vetted address under the name', async () => {
    dns.set(NAME, { A: ['127.0.0.1'] });
    const { setup, socket } = connect(NAME);
    const ready = await socket;
    expect(ready.remoteAddress).toBe('127.0.0.1');
    expect(ready.servername).toBe(NAME);
    expect(ready.authorized).toBe(true);
    expect(ready.alpnProtocol).toBe('http/1.1');
    expect(dns.questions.sort()).toEqual([`A ${NAME}`, `AAAA ${NAME}`]);
    expect(setup).toMatchObject({
      stage: 'ready',
      lookupMs: expect.any(Number),
      connectMs: expect.any(Number),
      tlsMs: expect.any(Number),
    });
  });

  it.each(['127.0.0.1', '169.254.169.254', '::1', 'fd00:ec2::254', '::ffff:127.0.0.1'])(
    'refuses the literal %s itself, without a lookup or a connection',
    async (literal) => {
      const before = receiver.connections;
      await expect(connect(literal, { using: makeConnector([]) }).socket).rejects.toThrow(AddressRefused);
      expect(dns.questions).toEqual([]);
      expect(receiver.connections).toBe(before);
    },
  );

  it('connects to no address of a name when one is refused', async () => {
    const before = receiver.connections;
    dns.set(NAME, { A: ['127.0.0.1', '192.168.0.1'] });
    const { setup, socket } = connect(NAME);
    await expect(socket).rejects.toThrow(AddressRefused);
    expect(setup.connectMs).toBeNull();
    expect(receiver.connections).toBe(before);
  });

  it('rejects with the error of a failed lookup', async () => {
    await expect(connect('missing.example.com').socket).rejects.toThrow(DnsFailure);
  });

  it('stops a hanging lookup at the deadline', async () => {
    dns.set('hanging.example.com', { A: 'SILENCE', AAAA: 'SILENCE' });
    await expect(connect('hanging.example.com', { timeoutMs: 100 }).socket).rejects.toMatchObject({
      stage: 'lookup',
      timedOut: true,
    });
  });

  itOnLinux(LOOPBACK, 'tries each address for its share of the time', async () => {
    const [first, second] = [await silence('127.0.0.2'), await silence('127.0.0.3')];
    dns.set(NAME, { A: ['127.0.0.2', '127.0.0.3', '127.0.0.1'] });
    expect((await connect(NAME, { timeoutMs: 3_000 }).socket).remoteAddress).toBe('127.0.0.1');
    expect([first.length, second.length]).toEqual([1, 1]);
  });

  itOnLinux(LOOPBACK, 'ends at the deadline when every address hangs, and reports the stage', async () => {
    const taken = await silence('127.0.0.2');
    dns.set(NAME, { A: ['127.0.0.2'] });
    await expect(connect(NAME, { timeoutMs: 1_000 }).socket).rejects.toMatchObject({
      name: 'ConnectionFailure',
      stage: 'tls',
      timedOut: true,
    });
    expect(taken).toHaveLength(1);
  });

  itOnLinux(LOOPBACK, 'tries at most four addresses of a name', async () => {
    const hosts = [2, 3, 4, 5, 6, 7].map((last) => `127.0.0.${last}`);
    const taken = await Promise.all(hosts.map(silence));
    for (const server of servers) server.on('connection', (socket) => socket.destroy());
    dns.set(NAME, { A: hosts });
    await expect(connect(NAME).socket).rejects.toMatchObject({ stage: 'tls', timedOut: false });
    expect(taken.flat()).toHaveLength(4);
  });

  itOnLinux(LOOPBACK, 'distinguishes a refused connect from a failed handshake', async () => {
    dns.set(NAME, { A: ['127.0.0.9'] });
    await expect(connect(NAME).socket).rejects.toMatchObject({ stage: 'connect', timedOut: false });
    dns.set('other.example.com', { A: ['127.0.0.1'] });
    await expect(connect('other.example.com').socket).rejects.toMatchObject({
      stage: 'tls',
      timedOut: false,
    });
  });
});
