import { AddressInfo } from 'node:net';
import axios from 'axios';
import { MetricsServer } from '../../src/operations/metrics/metrics-server';
import { WorkspaceUsageRepository } from '../../src/operations/metrics/workspace-usage.repository';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

const QUOTAS = {
  WORKSPACE_QUOTA_CONTACTS: '500',
  WORKSPACE_QUOTA_MESSAGES: '700',
  WORKSPACE_QUOTA_MEBIBYTES: '1',
};

describe('usage of workspaces', () => {
  let service: TestService;
  let small: Tenant;
  let large: Tenant;

  beforeAll(async () => {
    service = await TestService.create({ env: { ...QUOTAS, METRICS_PORT: '0' } });
    small = await createTenant(service);
    large = await createTenant(service);
    await service.query(
      `INSERT INTO contacts (tenant_id, id, name, attributes, created_at, updated_at)
       SELECT CASE WHEN n % 20 = 0 THEN $1::uuid ELSE $2::uuid END, gen_random_uuid(), 'Many ' || n,
              jsonb_build_object('note', repeat(md5(n::text), 20)), now(), now()
       FROM generate_series(1, 4000) AS n`,
      [small.workspace.id, large.workspace.id],
    );
    await service.query('ANALYZE');
  });

  const list = () => service.app.get(WorkspaceUsageRepository).list();

  it('names first who has passed a quota, by estimates of the statistics', async () => {
    const [first, ...others] = await list();
    expect(first).toMatchObject({ workspaceId: large.workspace.id, over: ['contacts', 'bytes'] });
    expect(first!.contacts).toBeGreaterThan(3_700);
    expect(first!.contacts).toBeLessThan(3_900);
    const [rows] = await service.query<{ bytes: number }>(
      `SELECT pg_total_relation_size('contacts')::float8 AS bytes`,
    );
    expect(first!.bytes).toBeGreaterThan(rows!.bytes * 0.8);
    expect(others.find(({ workspaceId }) => workspaceId === small.workspace.id)).toMatchObject({ over: [] });
  });

  it('counts in the metrics how many have passed each quota', async () => {
    const { port } = service.app.get(MetricsServer).address as AddressInfo;
    const { data } = await axios.get<string>(`http://127.0.0.1:${port}/metrics`, { proxy: false });
    expect(data.match(/^workspaces_over_quota.*$/gm)).toEqual([
      'workspaces_over_quota{quota="contacts"} 1',
      'workspaces_over_quota{quota="messages"} 0',
      'workspaces_over_quota{quota="bytes"} 1',
    ]);
  });
});
