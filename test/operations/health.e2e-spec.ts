import { OwnRedis } from '../support/own-redis';
import { RedisMonitor } from '../support/redis-monitor';
import { TestService } from '../support/service';
import { TestDashboard } from '../support/test-dashboard';

const CALLS = 50;

describe('GET /health/ready', () => {
  let redis: OwnRedis;
  let monitor: RedisMonitor;
  let service: TestService;
  let dashboard: TestDashboard;
  let pings = 0;

  beforeAll(async () => {
    redis = await OwnRedis.start();
    monitor = await RedisMonitor.start(redis.url, ([name]) => {
      if (name?.toLowerCase() === 'ping') pings += 1;
    });
    service = await TestService.create({ env: { REDIS_URL: redis.url } });
    dashboard = await TestDashboard.create(service.stores, { REDIS_URL: redis.url });
  });
  afterAll(async () => {
    await dashboard.close();
    await service.close();
    monitor.stop();
    await redis.stop();
  });

  it.each([
    ['the API', () => service.client.send({ method: 'GET', path: '/health/ready' })],
    ['the dashboard', () => dashboard.browser.get('/health/ready')],
  ])('probes once a second, however often %s is asked', async (_, ask) => {
    const before = pings;
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: CALLS }, ask));
    for (let n = 0; n < CALLS; n++) answers.push(await ask());
    for (const { status } of answers) expect(status).toBe(200);
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
    // A second process and the subscribers of both ping, too, a few times a minute.
    expect(pings - before).toBeLessThanOrEqual(seconds + 4);
  });
});
