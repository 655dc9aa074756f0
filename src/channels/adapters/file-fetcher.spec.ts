import { DnsStub } from '../../../test/support/dns-stub';
import { HttpsReceiver } from '../../../test/support/https-receiver';
import { TestCa } from '../../../test/support/test-ca';
import { Config } from '../../config/config';
import { FetchedFile, FetchRequest, FileFetcher } from './file-fetcher';

const [FIRST, SECOND] = ['first.files.example.com', 'second.files.example.com'];
const API = 'https://api.example.com';

describe('FileFetcher', () => {
  let ca: TestCa;
  let dns: DnsStub;
  let first: HttpsReceiver;
  let second: HttpsReceiver;

  beforeAll(async () => {
    ca = await TestCa.create();
    dns = await DnsStub.start();
    first = await HttpsReceiver.start(await ca.issue([FIRST, 'files.example.com.evil.example']));
    second = await HttpsReceiver.start(await ca.issue([SECOND]));
    for (const name of [FIRST, SECOND, 'files.example.com.evil.example']) dns.set(name, { A: ['127.0.0.1'] });
  });

  beforeEach(() => {
    first.requests.length = 0;
    second.requests.length = 0;
    first.respond = (response) => response.end('bytes');
    second.respond = (response) => response.end('bytes');
  });

  const makeFetcher = (webhookAllowedNetworks: string[]) =>
    new FileFetcher({
      webhookAllowedNetworks,
      webhookDeniedNetworks: [],
      webhookDnsServers: [dns.server],
      webhookExtraCa: ca.pem,
    } as unknown as Config);

  const fetchFrom = (url: string, more: Partial<FetchRequest> = {}, networks = ['127.0.0.0/8']) => {
    const signal = AbortSignal.timeout(10_000);
    const given = { url, hosts: ['.files.example.com'], apiUrl: API, authorization: 'Bearer secret', signal };
    return makeFetcher(networks).fetch({ ...given, ...more });
  };
  const at = (name: string, { port }: HttpsReceiver, path = '/file') => `https://${name}:${port}${path}`;
  const redirectTo = (location: string) => {
    first.respond = (response) => response.writeHead(302, { location }).end();
  };
  const read = async ({ content }: FetchedFile): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  };

  it('sends the authorization to the host of the file', async () => {
    const fetched = await fetchFrom(at(FIRST, first));
    expect(await read(fetched as FetchedFile)).toBe('bytes');
    expect(first.requests[0]!.headers.authorization).toBe('Bearer secret');
  });

  it('keeps the authorization on the same host, and sends it to no other', async () => {
    first.respond = (response, { path }) => {
      const location = path === '/file' ? at(FIRST, first, '/again') : at(SECOND, second);
      response.writeHead(302, { location }).end();
    };
    expect(await read((await fetchFrom(at(FIRST, first))) as FetchedFile)).toBe('bytes');
    expect(first.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ]);
    expect(second.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('does not send the authorization to a host again that another one names', async () => {
    redirectTo(at(SECOND, second));
    second.respond = (response) => {
      first.respond = (answer) => answer.end('bytes');
      response.writeHead(302, { location: at(FIRST, first) }).end();
    };
    expect(await read((await fetchFrom(at(FIRST, first))) as FetchedFile)).toBe('bytes');
    expect(first.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', undefined]);
  });

  it.each([
    ['another host', 'https://elsewhere.example.com/'],
    ['a host whose name only begins alike', 'https://files.example.com.evil.example/'],
    ['plain http', `http://${SECOND}/`],
    ['a private address', 'https://169.254.169.254/latest/meta-data'],
    ['a user', `https://user:pass@${SECOND}/`],
    ['a file of the machine', 'file:///etc/passwd'],
  ])('follows no redirect to %s', async (_, location) => {
    redirectTo(location);
    expect(await fetchFrom(at(FIRST, first))).toEqual({ kind: 'FORBIDDEN' });
    expect(second.requests).toEqual([]);
  });

  it('connects to no private address, even of a listed host', async () => {
    expect(await fetchFrom(at(FIRST, first), {}, [])).toEqual({ kind: 'REFUSED', status: 0 });
    expect(first.requests).toEqual([]);
  });

  it('ends after a number of redirects', async () => {
    redirectTo(at(FIRST, first));
    expect(await fetchFrom(at(FIRST, first))).toEqual({ kind: 'REFUSED', status: 0 });
    expect(first.requests).toHaveLength(5);
  });

  it('ends in the middle of the bytes at the signal', async () => {
    first.respond = (response) => void response.write('by');
    const abort = new AbortController();
    const fetched = (await fetchFrom(at(FIRST, first), { signal: abort.signal })) as FetchedFile;
    const rest = read(fetched);
    abort.abort();
    await expect(rest).rejects.toThrow();
  });
});
