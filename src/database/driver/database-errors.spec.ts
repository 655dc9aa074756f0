import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { AppError } from '../../common/app-error';
import { failConnections } from '../../../test/support/failing-sockets';
import { PostgresProxy } from '../../../test/support/postgres-proxy';
import { ProxiedHost } from '../../../test/support/proxied-host';
import { Database } from '../database';
import { isDatabaseAway, isFaultOfData, isWorkspaceUnknown, violatesUnique } from './database-errors';

/** Errors of the system, of name servers and of TLS with which a connection can't be opened. */
const SOCKET_FAULTS = [
  ...['EMFILE', 'ENFILE', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'ECONNABORTED', 'EHOSTUNREACH'],
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOBUFS', 'EACCES', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER'],
];
/** SQLSTATEs that say nothing about a statement's values, and after which a later try may pass. */
const WORLD_STATES = [
  ...['28P01', '28000', '3D000', '42501', '53000', '53100', '53200', '53300', '57P01', '57P02', '57P03'],
  ...['08006', '08P01', '57014', '55P03', '40P01', '40001', '25006', '58030'],
];
const DATA_STATES = ['22P02', '22001', '22021', '23502', '23505', '23514', '54000', '54001'];

const WORLD = { isAway: true, isOfData: false };

describe('faults of a database', () => {
  let backend: ProxiedHost;
  let proxy: PostgresProxy;
  let database: Database;

  beforeAll(async () => {
    backend = await ProxiedHost.create();
    proxy = backend.proxy;
    database = backend.host.get(Database);
  });
  afterEach(() => proxy.mend());

  /** Uses the database in every way there is, and returns how each failure is classified. */
  async function classifyAll(sql = 'SELECT 1') {
    const uses = [
      () => database.query(sql),
      () => database.prepared(sql),
      () => database.preparedWithin(1_000, sql, []),
      () => database.pipelinedRead(sql, []),
      () => database.transaction((tx) => tx.query(sql)),
      () => database.transaction((tx) => void tx.pipeline(sql, [])),
      () => database.queueTransaction((tx) => tx.query(sql)),
    ];
    const found = [];
    for (const use of uses) found.push(classify(await failureOf(use)));
    return found;
  }

  it.each(SOCKET_FAULTS)('are of the world when a connection fails with %s', async (code) => {
    const connections = failConnections(database.pool, code);
    try {
      for (const found of await classifyAll()) expect(found).toEqual(WORLD);
    } finally {
      connections.mend();
    }
    await database.query('SELECT 1');
  });

  it.each(WORLD_STATES)('are of the world when a connection is answered with %s', async (code) => {
    proxy.refuseConnections(code);
    for (const found of await classifyAll()) expect(found).toEqual(WORLD);
    proxy.mend();
    await database.query('SELECT 1');
  });

  it.each(WORLD_STATES)('are of the world when a statement is answered with %s', async (code) => {
    proxy.failStatements(code, /fails here/);
    for (const found of await classifyAll('SELECT 1 -- fails here')) expect(found).toEqual(WORLD);
    const later = failureOf(() =>
      database.transaction(async (tx) => {
        await tx.query('SELECT 1');
        await tx.query('SELECT 1 -- fails here');
      }),
    );
    expect(classify(await later)).toEqual(WORLD);
    await database.query('SELECT 1');
  });

  it.each(WORLD_STATES)('are of the world when COMMIT is answered with %s', async (code) => {
    proxy.failStatements(code, /^COMMIT/);
    expect(classify(await failureOf(() => database.transaction((tx) => tx.query('SELECT 1'))))).toEqual(
      WORLD,
    );
  });

  it.each(['22023', 'XX000', '42P01'])(
    'are of the world when a transaction can’t begin, here with %s',
    async (code) => {
      proxy.failStatements(code, /^BEGIN/);
      expect(classify(await failureOf(() => database.transaction((tx) => tx.query('SELECT 1'))))).toEqual(
        WORLD,
      );
    },
  );

  it.each(DATA_STATES)('are of the data when a statement is answered with %s', async (code) => {
    proxy.failStatements(code, /fails here/);
    for (const found of await classifyAll('SELECT 1 -- fails here'))
      expect(found).toEqual({ isAway: false, isOfData: true });
  });

  it('are of neither when a statement is wrong', async () => {
    for (const found of await classifyAll('SELECT FROM nothing'))
      expect(found).toEqual({ isAway: false, isOfData: false });
  });

  it('are of the data when the work throws an error of its own', async () => {
    for (const error of [new TypeError('x is undefined'), AppError.notFound('Workspace')]) {
      const failure = await failureOf(() => database.transaction(() => Promise.reject(error)));
      expect(classify(failure)).toEqual({ isAway: false, isOfData: true });
    }
  });

  it.each(['EMFILE', 'ENOSPC'])('are of the world when the work throws the system’s %s', async (code) => {
    const error = Object.assign(new Error(code), { code, errno: -24, syscall: 'open' });
    const failure = await failureOf(() => database.transaction(() => Promise.reject(error)));
    expect(classify(failure)).toEqual(WORLD);
  });
});

describe('the constraint that a row violates', () => {
  const duplicate = (name: string, constraint?: string) =>
    fault('23505', `duplicate key value violates unique constraint "${name}"`, constraint);
  const dangling = (name: string, constraint?: string) =>
    fault('23503', `insert or update on table "notes" violates foreign key constraint "${name}"`, constraint);

  it.each([
    ['one server', duplicate('agents_email_key', 'agents_email_key')],
    ['a table of the coordinator', duplicate('agents_email_key_102008', 'agents_email_key_102008')],
    ['a node', duplicate('agents_email_key_102065')],
  ])('is known on %s', (_, error) => {
    expect(violatesUnique(error, 'agents_email_key')).toBe(true);
    expect(violatesUnique(error, 'email_key')).toBe(false);
    expect(isWorkspaceUnknown(error)).toBe(false);
  });

  it.each([
    ['one server', dangling('saved_replies_tenant_id_fkey', 'saved_replies_tenant_id_fkey')],
    ['a node', dangling('saved_replies_tenant_id_fkey_102065')],
  ])('tells of an unknown workspace on %s', (_, error) => {
    expect(isWorkspaceUnknown(error)).toBe(true);
    expect(violatesUnique(error, 'saved_replies_tenant_id_fkey')).toBe(false);
  });

  it('tells of no workspace when another row is missing', () => {
    expect(isWorkspaceUnknown(dangling('notes_tenant_id_conversation_id_fkey_102065'))).toBe(false);
  });
});

describe('an internal error of a coordinator of Citus', () => {
  it.each([
    'server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally',
    'failure on connection marked as essential: 10.0.0.5:5432',
  ])('is of the world when it has lost a node: %s', (message) => {
    expect(classify(fault('XX000', message))).toEqual(WORLD);
  });

  it('is of neither otherwise', () => {
    expect(classify(fault('XX000', 'unrecognized node type'))).toEqual({ isAway: false, isOfData: false });
  });
});

/** Returns PostgreSQL's error; Citus passes on the errors of its nodes without the constraint's name. */
function fault(code: string, message: string, constraint?: string) {
  const error = Object.assign(new DatabaseError(message, 0, 'error'), { code, constraint });
  return new QueryFailedError('INSERT', [], error);
}

function classify(error: unknown) {
  return { isAway: isDatabaseAway(error), isOfData: isFaultOfData(error) };
}

async function failureOf(use: () => Promise<unknown>): Promise<unknown> {
  return use().then(
    () => 'no failure',
    (error: unknown) => error,
  );
}
