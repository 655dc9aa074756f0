import { ApiKeysService } from '../../src/auth/api-keys.service';
import { CreateApiKey } from '../../src/auth/api-key.dto';
import { SYSTEM } from '../../src/access/principal';
import { ApiResponse } from '../support/api-client';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

const REFUSED = errorBody('FORBIDDEN', 'The API key may not be used from this address.');

describe('an API key with networks', () => {
  let service: TestService;
  let workspaceId: string;

  beforeAll(async () => {
    service = await TestService.create({ env: { TRUST_PROXY: 'loopback' } });
    workspaceId = (await service.make.workspace()).id;
  });

  const create = (input: Partial<CreateApiKey>) =>
    service.app
      .get(ApiKeysService)
      .create(workspaceId, { name: 'CRM', scopes: ['contacts:read'], ...input }, SYSTEM);

  /** Calls a route as a proxy on this machine does for a client with the given address. */
  const meFrom = (key: string, address?: string, path = '/me'): Promise<ApiResponse> =>
    service.client.with({ 'x-api-key': key, ...(address && { 'x-forwarded-for': address }) }).get(path);

  it.each([
    [
      '203.0.113.0/24',
      ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.7'],
      ['203.0.112.255', '203.0.114.0'],
    ],
    ['203.0.113.7/32', ['203.0.113.7', '::ffff:cb00:7107'], ['203.0.113.6', '203.0.113.8', '2001:db8::7']],
    [
      '2001:db8:1::/48',
      ['2001:db8:1::', '2001:db8:1:ffff::1'],
      ['2001:db8:2::', '203.0.113.7', '::ffff:1.2.3.4'],
    ],
    ['0.0.0.0/0', ['8.8.8.8', '::ffff:8.8.8.8'], ['2001:db8::1']],
    ['::/0', ['2001:db8::1'], ['8.8.8.8', '::ffff:8.8.8.8']],
  ])('in %s may be used from there alone', async (network, inside, outside) => {
    const { key, allowedNetworks } = await create({ allowedNetworks: ['192.0.2.1/32', network] });
    expect(allowedNetworks).toEqual(['192.0.2.1/32', network]);
    for (const address of inside) {
      const { status } = await meFrom(key, address);
      expect({ address, status }).toEqual({ address, status: 200 });
    }
    for (const address of [...outside, 'unknown', '203.0.113.7:4711', '010.0.0.1']) {
      const { status, body } = await meFrom(key, address);
      expect({ address, status, body }).toEqual({ address, status: 403, body: REFUSED });
    }
  });

  it('takes the address of the connection when no proxy names another', async () => {
    const statusOf = async (network: string) =>
      (await meFrom((await create({ allowedNetworks: [network] })).key)).status;
    expect(await statusOf('203.0.113.0/24')).toBe(403);
    expect(await statusOf('127.0.0.0/8')).toBe(200);
  });

  it('is refused on every path, whatever it asks for, and says nothing of the workspace', async () => {
    const { key } = await create({ allowedNetworks: ['203.0.113.0/24'] });
    for (const path of ['/me', '/contacts', '/conversations', '/contacts?limit=0']) {
      const { status, body, headers } = await meFrom(key, '198.51.100.1', path);
      expect({ status, body }).toEqual({ status: 403, body: REFUSED });
      expect(headers).not.toHaveProperty('x-ratelimit-limit');
    }
  });

  it('counts as refused, and uses up nothing of the workspace’s rate', async () => {
    const address = '198.51.100.77';
    const { id } = await service.make.workspace({ rateLimit: 1 });
    const keys = service.app.get(ApiKeysService);
    const input: CreateApiKey = {
      name: 'CRM',
      scopes: ['contacts:read'],
      allowedNetworks: ['203.0.113.0/24'],
    };
    const { id: keyId, key } = await keys.create(id, input, SYSTEM);
    for (let n = 0; n < 120; n++) expect((await meFrom(key, address)).status).toBe(403);
    const limited = await meFrom(key, address);
    expect({ status: limited.status, code: limited.body.error.code }).toEqual({
      status: 429,
      code: 'RATE_LIMITED',
    });

    const lastUse = async () => (await keys.list(id, {}, SYSTEM)).find((one) => one.id === keyId)!.lastUsedAt;
    expect(await lastUse()).toBeNull();
    expect((await meFrom(key, '203.0.113.1')).status).toBe(200);
    expect(await waitFor('the first use', lastUse)).toBeInstanceOf(Date);
  });

  it.each([
    [[]],
    [['203.0.113.7']],
    [['203.0.113.7/24']],
    [['010.0.0.0/8']],
    [['::ffff:10.0.0.0/104']],
    [['2001:db8::1/32']],
    [['fe80::%eth0/64']],
    [['example.com/8']],
    [[7]],
    [['203.0.113.0/24', '203.0.113.0/24']],
    [Array.from({ length: 51 }, (_, n) => `10.${n}.0.0/16`)],
    ['203.0.113.0/24'],
  ])('is not created with %j', async (allowedNetworks) => {
    await expect(create({ allowedNetworks: allowedNetworks as string[] })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'allowedNetworks', message: expect.any(String) }],
    });
  });
});
