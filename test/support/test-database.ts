import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Pool, PoolClient } from 'pg';
import { makeRoles } from '../../scripts/servers/roles.mjs';
import { Role } from '../../src/config/settings';
import { DatabaseClient } from '../../src/database/driver/database-client';
import { setRoleSettings } from '../../src/database/setup/role-settings';
import { DatabaseNodes, inDatabase } from './database-nodes.mjs';
import { emptyRedis, redisUrlOf } from './redis-connections';
import { forgetStop, stopAtEnd } from './stop-at-end';

/**
 * Addresses of the servers for one test file: a database of its own, and the Redis database of its worker.
 */
export interface TestStores {
  /** Address for the service's database role. */
  databaseUrl: string;
  /**
   * Address for the owner of the tables; undefined on a server from outside, where one role does everything.
   */
  databaseOwnerUrl?: string;
  /** Address for the test itself, which may do everything. */
  databaseAdminUrl: string;
  redisUrl: string;
}

/**
 * Copies the migrated template, and empties this worker's Redis database. The copy is dropped after the tests
 * of the file.
 */
export async function createStores(): Promise<TestStores> {
  const template = setting('TEST_TEMPLATE_DATABASE');
  const name = `${template}_${randomBytes(4).toString('hex')}`;
  await nodes().copy(template, name);
  await setSettingsOfRoles(name);
  const stores = { ...databaseUrls(name), redisUrl: await ownRedis() };
  return stopAtEnd(stores, () => dropStores(stores));
}

/** Empties this worker's Redis database and returns its address. */
export async function ownRedis(): Promise<string> {
  const url = redisUrlOf(setting('TEST_REDIS_URL'), setting('JEST_WORKER_ID'));
  await emptyRedis(url);
  return url;
}

/** Drops the database that `createStores` made, with any connections to it. */
export async function dropStores(stores: Pick<TestStores, 'databaseUrl'>): Promise<void> {
  forgetStop(stores);
  await nodes().drop(databaseNameOf(stores));
  await rm(fileFolderOf(stores), { recursive: true, force: true });
}

/** Returns the folder in which all processes of a database keep files. */
export function fileFolderOf(stores: Pick<TestStores, 'databaseUrl'>): string {
  return join(tmpdir(), `messaging-files-${databaseNameOf(stores)}`);
}

/** Returns the name of the database in an address, which may have several hosts. */
function databaseNameOf({ databaseUrl }: Pick<TestStores, 'databaseUrl'>): string {
  return /\/([^/?]+)(\?|$)/.exec(databaseUrl)![1]!;
}

/** Creates a database without tables, for both roles or for one that makes everything. */
export async function createEmptyDatabase({ withRoles = true } = {}): Promise<Omit<TestStores, 'redisUrl'>> {
  const name = `${setting('TEST_TEMPLATE_DATABASE')}_empty_${randomBytes(4).toString('hex')}`;
  await nodes().create(name);
  const urls = databaseUrls(name);
  if (urls.databaseOwnerUrl && withRoles) await makeRoles(urls.databaseAdminUrl);
  return urls;
}

/** Returns the database variables of any process. */
export function databaseOf({ databaseUrl }: TestStores): Record<string, string> {
  return { DATABASE_URL: databaseUrl, DATABASE_PREPARED: setting('TEST_DATABASE_PREPARED') };
}

/** Returns the variables of a process that may own the tables: any but an API. */
export function ownerOf({ databaseOwnerUrl }: TestStores, role?: Role): Record<string, string> {
  return databaseOwnerUrl && role !== 'api' ? { DATABASE_OWNER_URL: databaseOwnerUrl } : {};
}

/**
 * A test's own connections to its database, as administrator. They return timestamps as the service's
 * connections do.
 */
export class TestDatabase {
  private readonly pool: Pool;

  constructor({ databaseAdminUrl }: TestStores, Client = DatabaseClient) {
    this.pool = new Pool({ connectionString: databaseAdminUrl, Client });
    // The database is dropped, or the server ends, while connections are open.
    this.pool.on('error', () => undefined);
  }

  async query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const client = (await this.pool.connect()) as PoolClient & DatabaseClient;
    try {
      return (await client.runStatement<Row>(sql, parameters)).rows;
    } finally {
      client.release();
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

function databaseUrls(name: string): Omit<TestStores, 'redisUrl'> {
  const ownerUrl = process.env['TEST_DATABASE_OWNER_URL'];
  return {
    databaseUrl: inDatabase(setting('TEST_DATABASE_URL'), name),
    databaseAdminUrl: inDatabase(setting('TEST_DATABASE_ADMIN_URL'), name),
    ...(ownerUrl && { databaseOwnerUrl: inDatabase(ownerUrl, name) }),
  };
}

/** Returns the address of the same database on its server, without a pooler or proxy between. */
export function direct(url: string): string {
  const { host } = new URL(setting('TEST_DATABASE_ADMIN_URL'));
  return Object.assign(new URL(url), { host }).href;
}

/**
 * Stores the settings of the roles for a database: they belong to the server, so that a copy of a database
 * lacks them.
 */
async function setSettingsOfRoles(name: string): Promise<void> {
  const { databaseUrl, databaseOwnerUrl } = databaseUrls(name);
  for (const url of [databaseUrl, databaseOwnerUrl].filter((one) => one !== undefined)) {
    // A pooler would keep this connection, which does not have the settings yet.
    const client = new DatabaseClient({ connectionString: direct(url) });
    await client.connect();
    await setRoleSettings({
      query: async <Row>(sql: string, parameters: unknown[] = []) =>
        (await client.runStatement<Row>(sql, parameters)).rows,
    });
    await client.end();
  }
}

/** Returns a setting that the global setup has put into the environment. */
export function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global setup sets it`);
  return value;
}

/** Returns the addresses of a database on each server, for the administrator. */
export function nodeUrlsOf({ databaseAdminUrl }: TestStores): string[] {
  const name = new URL(databaseAdminUrl).pathname.slice(1);
  return nodes().urls.map((url) => inDatabase(url, name));
}

/** Reports whether the tests' databases lie on several nodes. */
export function isOnCitus(): boolean {
  return nodes().urls.length > 1;
}

function nodes(): DatabaseNodes {
  const roles = [
    setting('TEST_DATABASE_URL'),
    setting('TEST_DATABASE_ADMIN_URL'),
    ...(process.env['TEST_DATABASE_OWNER_URL'] ? [process.env['TEST_DATABASE_OWNER_URL']] : []),
  ];
  return new DatabaseNodes(setting('TEST_DATABASE_NODES').split(' '), roles);
}
