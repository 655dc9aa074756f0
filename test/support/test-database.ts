import { randomBytes } from 'node:crypto';
import Redis from 'ioredis';
import { Client } from 'pg';

/** The servers' addresses for one test file: a database of its own, and a Redis database of its worker's own. */
export interface TestStores {
  databaseUrl: string;
  redisUrl: string;
}

/** Copies the migrated template, and empties this worker's Redis database. */
export async function createStores(): Promise<TestStores> {
  const template = setting('TEST_TEMPLATE_DATABASE');
  const name = `${template}_${randomBytes(4).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const stores = {
    databaseUrl: withPath(setting('TEST_DATABASE_URL'), name),
    redisUrl: withPath(setting('TEST_REDIS_URL'), setting('JEST_WORKER_ID')),
  };
  const redis = new Redis(stores.redisUrl);
  await redis.flushdb();
  redis.disconnect();
  return stores;
}

/** Drops the database that `createStores` made, with any connections to it. */
export async function dropStores({ databaseUrl }: TestStores): Promise<void> {
  await administer(`DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`);
}

/** A setting that the global setup has put into the environment. */
export function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global setup sets it`);
  return value;
}

async function administer(sql: string): Promise<void> {
  const client = new Client({ connectionString: setting('TEST_DATABASE_URL') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function withPath(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = `/${path}`;
  return url.href;
}
