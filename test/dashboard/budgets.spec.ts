import { Client } from 'pg';
import { makeSettings } from '../support/dashboard-routes';
import { TestService } from '../support/service';
import { TestDashboard } from '../support/test-dashboard';
import { waitFor } from '../support/wait';

describe("a workspace's requests to the dashboard", () => {
  let service: TestService;
  let dashboard: TestDashboard;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores, { DATABASE_POOL_SIZE: '4' });
  });

  it('leave half of the connections to others, however long they take', async () => {
    const loud = await makeSettings(service, dashboard, 'https://127.0.0.1:9999/hook');
    const quiet = await makeSettings(service, dashboard, 'https://127.0.0.1:9999/hook');
    const lock = new Client({ connectionString: service.stores.databaseAdminUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE api_keys');
    const path = `/api/workspaces/${loud.workspace.id}/api-keys`;
    const waiting = Array.from({ length: 8 }, () => loud.browser.get(path));
    const blocked = async () => {
      const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await service.query(sql)).length;
    };
    await waitFor('requests that hold connections', async () => (await blocked()) === 2);

    // In the second round, all requests of the others are ahead.
    for (let n = 0; n < 3; n++) {
      expect((await quiet.browser.get(`/api/workspaces/${quiet.workspace.id}/agents`)).status).toBe(200);
      expect(await blocked()).toBeLessThanOrEqual(2);
    }
    await lock.query('ROLLBACK');
    await lock.end();
    // Who waited for the lock for 2 s is answered with 503, and who waited in the line as long with 429.
    for (const { status } of await Promise.all(waiting)) expect([200, 429, 503]).toContain(status);
  });
});
