import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { makeCertificates } from '../scripts/certificates.mjs';
import { requireValue } from '../scripts/processes.mjs';
import { startServers } from '../scripts/servers.mjs';
import { makeRoles } from '../scripts/servers/roles.mjs';
import { DatabaseNodes, inDatabase } from './support/database-nodes.mjs';
import { TOPOLOGIES } from './topology/topologies.mjs';

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../dist/migrations', import.meta.url));

/**
 * Prepares what all tests share: PostgreSQL with the two roles of the service (a server from outside keeps
 * its one role), Redis, a migrated template database that each test file copies, and certificates for https
 * receivers. The addresses are passed to the tests in the environment.
 */
export default async function setUp() {
  for (const built of [CLI, MIGRATIONS])
    if (!existsSync(built)) throw new Error(`${built} is missing: run "npm run build" first.`);
  // The role that makes and drops databases owns their tables, and acts as the service's role as well.
  delete process.env.DATABASE_OWNER_URL;
  const servers = await startServers({
    onLog: console.log,
    citusWorkers: process.env.TEST_CITUS === 'true' ? 2 : 0,
  });
  const folder = mkdtempSync(join(tmpdir(), 'messaging-tests-'));
  servers.reaper.removeAtEnd(folder);

  // The name belongs to this run alone: two runs may share a server.
  const template = `messaging_template_${randomBytes(4).toString('hex')}`;
  const [{ caFile, certFile, keyFile }] = await Promise.all([
    makeCertificates(folder, ['localhost', '127.0.0.1', 'receiver.test']),
    makeTemplate(servers, template, folder),
  ]);
  Object.assign(process.env, {
    TEST_DATABASE_URL: servers.databaseUrl,
    TEST_DATABASE_OWNER_URL: servers.databaseOwnerUrl ?? '',
    TEST_DATABASE_ADMIN_URL: servers.databaseAdminUrl,
    TEST_DATABASE_NODES: servers.databaseNodes.join(' '),
    TEST_DATABASE_PREPARED: 'on',
    TEST_TEMPLATE_DATABASE: template,
    TEST_REDIS_URL: servers.redisUrl,
    TEST_CA_FILE: caFile,
    TEST_CERT_FILE: certFile,
    TEST_KEY_FILE: keyFile,
    ...(await startTopology(servers)),
  });
  Object.assign(globalThis, { testServers: servers });
}

/**
 * Starts the topology that the environment names, if any.
 *
 * @param {import('../scripts/servers.mjs').Servers} servers
 */
function startTopology(servers) {
  const name = process.env.TOPOLOGY;
  return name ? requireValue(TOPOLOGIES[name], `topology ${name}`).start?.(servers) : undefined;
}

/**
 * @param {import('../scripts/servers.mjs').Servers} servers
 * @param {string} name
 * @param {string} dataDir
 */
async function makeTemplate(servers, name, dataDir) {
  const { databaseUrl, databaseOwnerUrl, databaseAdminUrl } = servers;
  const roles = [databaseUrl, databaseAdminUrl, ...(databaseOwnerUrl ? [databaseOwnerUrl] : [])];
  const nodes = new DatabaseNodes(servers.databaseNodes, roles);
  await nodes.create(name, await localeOption(databaseAdminUrl));
  const of = (/** @type {string} */ url) => inDatabase(url, name);
  if (databaseOwnerUrl) await makeRoles(of(databaseAdminUrl));
  await promisify(execFile)(process.execPath, [CLI, 'migrate'], {
    env: {
      ...process.env,
      NODE_ENV: 'test',
      DATABASE_URL: of(databaseUrl),
      ...(databaseOwnerUrl && { DATABASE_OWNER_URL: of(databaseOwnerUrl) }),
      REDIS_URL: servers.redisUrl,
      DATA_DIR: dataDir,
    },
  });
  await nodes.closeTemplate(name);
}

/**
 * Returns the locale for databases that know letters beyond ASCII. Without it the search tests would fail for
 * a wrong reason.
 *
 * @param {string} connectionString
 */
async function localeOption(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query("SELECT datctype FROM pg_database WHERE datname = 'template0'");
    return ['C', 'POSIX'].includes(rows[0].datctype) ? "LOCALE 'C.UTF-8'" : '';
  } finally {
    await client.end();
  }
}
