import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DnsStub } from '../../test/support/dns-stub';
import { DnsFailure, HostResolver } from './host-resolver';

/** Timeout of lookups that are meant to time out. */
const SHORT_MS = 400;

describe('HostResolver', () => {
  let stub: DnsStub;
  let directory: string;
  let hostsFile: string;
  let resolver: HostResolver;

  beforeEach(async () => {
    stub = await DnsStub.start();
    directory = await mkdtemp(join(tmpdir(), 'hosts-'));
    hostsFile = join(directory, 'hosts');
    resolver = resolverWithin(undefined);
  });

  afterEach(async () => {
    await stub.stop();
    await rm(directory, { recursive: true });
  });

  const resolverWithin = (timeoutMs: number | undefined) =>
    new HostResolver({ servers: [stub.server], timeoutMs, hostsFile });

  const failure = async (hostname: string, of = resolver): Promise<DnsFailure> => {
    const error: unknown = await of.resolve(hostname).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DnsFailure);
    return error as DnsFailure;
  };

  it('asks for both families, each once, and puts IPv4 first', async () => {
    stub.set('both.example.com', { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] });
    const addresses = await resolver.resolve('both.example.com');
    expect(addresses.slice(0, 2).sort()).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(addresses.slice(2)).toEqual(['2001:db8::1']);
    expect(stub.questions.sort()).toEqual(['A both.example.com', 'AAAA both.example.com']);
  });

  it('caches nothing between lookups', async () => {
    stub.set('moving.example.com', { A: ['192.0.2.1'] });
    expect(await resolver.resolve('moving.example.com')).toEqual(['192.0.2.1']);
    stub.set('moving.example.com', { A: ['192.0.2.2'] });
    expect(await resolver.resolve('moving.example.com')).toEqual(['192.0.2.2']);
  });

  it.each([
    ['AAAA', { A: ['192.0.2.1'] }, ['192.0.2.1']],
    ['A', { AAAA: ['2001:db8::1'] }, ['2001:db8::1']],
  ])('is content without %s', async (_, answers, addresses) => {
    stub.set('one.example.com', answers);
    expect(await resolver.resolve('one.example.com')).toEqual(addresses);
  });

  it('uses one family when the other never answers', async () => {
    stub.set('half.example.com', { A: ['192.0.2.1'], AAAA: 'SILENCE' });
    expect(await resolverWithin(1_500).resolve('half.example.com')).toEqual(['192.0.2.1']);
  });

  it('follows an alias', async () => {
    stub.set('www.example.com', { A: ['192.0.2.1'], alias: 'host.example.net' });
    expect(await resolver.resolve('www.example.com')).toEqual(['192.0.2.1']);
  });

  it('distinguishes the failures', async () => {
    stub.set('empty.example.com', {});
    stub.set('broken.example.com', { A: 'SERVFAIL', AAAA: 'SERVFAIL' });
    stub.set('refused.example.com', { A: 'REFUSED', AAAA: 'REFUSED' });
    stub.set('hanging.example.com', { A: 'SILENCE', AAAA: 'SILENCE' });
    stub.set('half-broken.example.com', { A: 'SERVFAIL' });

    expect(await failure('empty.example.com')).toMatchObject({
      code: 'ENODATA',
      message: 'empty.example.com has no address',
    });
    expect((await failure('missing.example.com')).code).toBe('ENOTFOUND');
    expect((await failure('broken.example.com')).code).toBe('ESERVFAIL');
    expect((await failure('refused.example.com')).code).toBe('EREFUSED');
    expect((await failure('hanging.example.com', resolverWithin(SHORT_MS))).code).toBe('ETIMEOUT');
    expect((await failure('half-broken.example.com')).code).toBe('ESERVFAIL');
  });

  it('prefers the hosts file to the name servers, and reads it again after a change', async () => {
    stub.set('hooks.internal', { A: ['192.0.2.9'] });
    expect(await resolver.resolve('hooks.internal')).toEqual(['192.0.2.9']);

    await writeFile(
      hostsFile,
      '# local\n::1 other\nfd00::1 Hooks.Internal # six\n10.0.0.1\thooks.internal  hooks\n',
    );
    stub.questions.length = 0;
    expect(await resolver.resolve('hooks.internal')).toEqual(['10.0.0.1', 'fd00::1']);
    expect(await resolver.resolve('HOOKS')).toEqual(['10.0.0.1']);
    expect(stub.questions).toEqual([]);

    await writeFile(hostsFile, '10.0.0.22 hooks.internal\n');
    expect(await resolver.resolve('hooks.internal')).toEqual(['10.0.0.22']);
    await rm(hostsFile);
    expect(await resolver.resolve('hooks.internal')).toEqual(['192.0.2.9']);
  });

  it('fails when the hosts file is unreadable', async () => {
    const odd = new HostResolver({ servers: [stub.server], hostsFile: directory });
    await expect(odd.resolve('example.com')).rejects.toMatchObject({
      name: 'DnsFailure',
      code: 'EHOSTSFILE',
    });
  });
});
