import { ISO_TIME, UUID, query, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('api-key', () => {
  it('creates a key, lists it without its value, and revokes it', async () => {
    const { key, ...created } = await cli.call(
      ...['api-key', 'create', '--workspace', 'acme', '--name', 'CRM'],
      ...['--scopes', 'conversations:read,messages:write', '--expires-at', '2030-01-01'],
    );
    expect(key).toMatch(/^plk_[0-9A-Za-z]{40}$/);
    expect(created).toEqual({
      id: UUID,
      name: 'CRM',
      preview: `${key.slice(0, 8)}…${key.slice(-4)}`,
      scopes: ['conversations:read', 'messages:write'],
      allowedNetworks: null,
      createdBy: null,
      createdAt: ISO_TIME,
      lastUsedAt: null,
      expiresAt: '2030-01-01T00:00:00.000Z',
      revokedAt: null,
    });

    expect(await cli.refusal('api-key', 'revoke', '--id', created.id)).toMatchObject({
      code: 'INVALID_BODY',
    });
    const { endpoints, ...revoked } = await cli.call('api-key', 'revoke', '--id', created.id, '--leaked');
    expect(endpoints).toEqual([]);
    expect(revoked).toEqual({ ...created, revokedAt: ISO_TIME });
    expect(await cli.call('api-key', 'list', '--workspace', 'acme')).toEqual({ data: [revoked] });
  });

  it('creates a key for some networks and a bounded life, and lists those that are unused', async () => {
    const create = ['api-key', 'create', '--workspace', 'acme', '--name', 'x', '--scopes', 'contacts:read'];
    const networks = ['--allowed-networks', '203.0.113.0/24,2001:db8::/32'];
    const created = await cli.callIn({ ...cli.env, API_KEY_MAX_LIFE_DAYS: '90' }, ...create, ...networks);
    expect(created).toMatchObject({
      allowedNetworks: ['203.0.113.0/24', '2001:db8::/32'],
      expiresAt: ISO_TIME,
    });
    await query(
      cli.stores.databaseUrl,
      `UPDATE api_keys SET created_at = now() - interval '91 days' WHERE id = $1`,
      [created.id],
    );
    const { data } = await cli.call('api-key', 'list', '--workspace', 'acme', '--unused', '90');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([created.id]);
  });

  it('refuses a scope that is none, and an end that has passed', async () => {
    const create = ['api-key', 'create', '--workspace', 'acme', '--name', 'x', '--scopes', 'contacts:erase'];
    expect(await cli.refusal(...create, '--expires-at', '2020-01-01')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'scopes' }, { field: 'expiresAt', message: 'must be in the future' }],
    });
  });
});
