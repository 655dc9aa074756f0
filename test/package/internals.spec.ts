import { readFileSync } from 'node:fs';
import { createServer, Server, Socket } from 'node:net';
import { getQueueToken } from '@nestjs/bull';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import Redis from 'ioredis';
import type { PoolClient } from 'pg';
import { Database } from '../../src/database/database';
import { DatabaseClient } from '../../src/database/driver/database-client';
import { DatabasePool } from '../../src/database/driver/database-pool';
import { RedisClient } from '../../src/redis/redis-client';
import { clearSocketTimeoutOnClose } from '../../src/redis/redis-connections';
import { WAKE_UP_QUEUE } from '../../src/queue/wake-ups';
import { TestService } from '../support/service';

/**
 * Tests of what docs/project/internals-we-rely-on.md lists: a new version of a library that lacks one of
 * these parts fails here.
 */
describe('the private parts of libraries that the service relies on', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
  });
  afterAll(() => service.close());

  it('pg: the pool behind TypeORM connects clients of our class, in pipeline mode', async () => {
    const { pool } = service.app.get(Database);
    expect(pool).toBeInstanceOf(DatabasePool);
    const client = await pool.connect();
    try {
      expect(client).toBeInstanceOf(DatabaseClient);
      expect(client).toMatchObject({ pipeline: true });
      expect((client as unknown as DatabaseClient)['connection'].stream).toBeInstanceOf(Socket);
      expect(client.getTransactionStatus()).toBe('I');
    } finally {
      client.release();
    }
  });

  it('pg: a client whose statement got no name, because it was not parsed, is not used again', async () => {
    const { pool } = service.app.get(Database);
    const client = (await pool.connect()) as PoolClient & DatabaseClient;
    await client.runPrepared('SELECT 1', []);
    await expect(client.runPrepared('SELECT 1 / $1::int', [0])).rejects.toThrow('division by zero');
    expect(client.isCurrent).toBe(true);
    await expect(client.runPrepared('SELECT nothing', [])).rejects.toThrow('does not exist');
    expect(client.isCurrent).toBe(false);
    client.release();
  });

  it('pg: the pool closes connections that no caller has used between two checks', async () => {
    const { pool } = service.app.get(Database);
    const own = new DatabasePool({ ...pool.options, hosts: pool['hosts'] });
    const clients = await Promise.all([own.connect(), own.connect()]);
    for (const client of clients) client.release();
    own['closeUnused']();
    const used = await own.connect();
    used.release();
    own['closeUnused']();
    expect(own.totalCount).toBe(1);
    expect(await own.connect()).toBe(used);
    used.release();
    await own.end();
  });

  it('ioredis: the stream of a connection can be corked', () => {
    const connection = service.app.get(RedisClient)['connection'] as Redis;
    expect(connection.stream).toBeInstanceOf(Socket);
  });

  it('@nestjs/bull: its shutdown hook is a method of the queue, where it can be replaced', () => {
    const queue = service.app.get<Queue & OnApplicationShutdown>(getQueueToken(WAKE_UP_QUEUE), {
      strict: false,
    });
    expect(queue).toHaveProperty('onApplicationShutdown', expect.any(Function));
  });

  describe('ioredis: the timer of socketTimeout', () => {
    let silent: Server;

    beforeAll(async () => {
      silent = createServer((socket) => socket.once('data', () => socket.destroy()));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => new Promise((resolve) => silent.close(resolve)));

    /** Returns the timer that is left after a connection that was closed with an unanswered command. */
    async function timerAfterClose(prepare: (redis: Redis) => void): Promise<unknown> {
      const { port } = silent.address() as { port: number };
      const redis = new Redis(port, '127.0.0.1', {
        socketTimeout: 60_000,
        retryStrategy: null,
        enableReadyCheck: false,
        lazyConnect: true,
      });
      redis.on('error', () => undefined);
      prepare(redis);
      const closed = new Promise((resolve) => redis.once('close', () => setImmediate(resolve)));
      await redis.connect().catch(() => undefined);
      redis.ping().catch(() => undefined);
      await closed;
      const timer: unknown = redis['socketTimeoutTimer'];
      clearTimeout(timer as NodeJS.Timeout);
      return timer;
    }

    it('outlives its connection, so that we have to clear it', async () => {
      expect(await timerAfterClose(() => undefined)).toBeDefined();
    });

    it('is cleared by us', async () => {
      expect(await timerAfterClose(clearSocketTimeoutOnClose)).toBeUndefined();
    });
  });

  it('are listed with the exact versions that the packages pin', () => {
    const page = readFileSync('docs/project/internals-we-rely-on.md', 'utf8');
    const listed = [...page.matchAll(/^\| `(@?[\w/-]+)` ([\d.]+) /gm)].map(([, name, version]) => [
      name!,
      version!,
    ]);
    expect(listed.length).toBeGreaterThan(5);
    const versions = { ...pinnedBy('package.json'), ...pinnedBy('widget/package.json') };
    expect(listed).toEqual(listed.map(([name]) => [name, versions[name!]]));
  });
});

function pinnedBy(path: string): Record<string, string> {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path, 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  return { ...dependencies, ...devDependencies };
}
