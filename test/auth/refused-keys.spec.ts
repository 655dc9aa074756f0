import { AuditTally } from '../../src/audit/audit-tally';
import { AuditService } from '../../src/audit/audit.service';
import { generateApiKey } from '../../src/auth/api-key-token';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { SYSTEM } from '../../src/access/principal';
import { Metrics } from '../../src/metrics/metrics';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

describe('refused API keys', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create();
  });
  beforeEach(async () => {
    tenant = await createTenant(service);
  });

  const flush = () => service.app.get(AuditTally, { strict: false }).flush();
  const entries = async (action: string) => {
    const audit = service.app.get(AuditService, { strict: false });
    return (await audit.list(tenant.workspace.id, { action }, SYSTEM)).data;
  };
  const refusals = async () => {
    const { values } = await service.app.get(Metrics, { strict: false }).apiKeysRefused.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
  };
  const call = async (key: string) =>
    (await service.client.as({ key }).with({ 'User-Agent': 'old-crm/1.0' }).get('/me')).status;

  it('that a workspace has had are told once a window, with their number', async () => {
    const revoked = await service.make.apiKey(tenant.workspace);
    const expired = await service.make.apiKey(tenant.workspace);
    await service.app
      .get(ApiKeysService)
      .revoke(tenant.workspace.id, revoked.id, { reason: 'LEAKED' }, SYSTEM);
    await service.query(`UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      expired.id,
    ]);
    for (const key of [revoked.key, expired.key, revoked.key, revoked.key]) expect(await call(key)).toBe(401);
    expect(await entries('api_key.refused')).toEqual([]);

    await flush();
    const times = { since: expect.any(String), until: expect.any(String) };
    const refused = await entries('api_key.refused');
    expect(refused).toHaveLength(2);
    expect(refused).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          entityId: revoked.id,
          actorType: 'system',
          address: expect.any(String),
          userAgent: 'old-crm/1.0',
          metadata: { name: revoked.name, reason: 'revoked', count: 3, ...times },
        }),
        expect.objectContaining({
          entityId: expired.id,
          metadata: { name: expired.name, reason: 'expired', count: 1, ...times },
        }),
      ]),
    );
    expect(JSON.stringify(refused)).not.toContain('plk_');

    await flush();
    expect(await entries('api_key.refused')).toHaveLength(2);
  });

  it('that nobody has had are in the metric alone', async () => {
    const all = () => service.query('SELECT id FROM audit_entries ORDER BY id');
    const before = await all();
    const { refused = 0, malformed = 0 } = await refusals();
    for (let n = 0; n < 5; n++) expect(await call(generateApiKey())).toBe(401);
    expect(await call('plk_guess')).toBe(401);

    await flush();
    expect(await all()).toEqual(before);
    expect(await refusals()).toEqual({ refused: refused + 5, malformed: malformed + 1 });
  });
});
