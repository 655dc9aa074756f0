import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { prepareValue } from 'pg/lib/utils';
import { Database } from '../../src/database/database';
import { Nodes } from '../../src/database/citus/nodes';
import { withPresentTime } from '../../src/database/citus/present-time';
import { DatabaseClient } from '../../src/database/driver/database-client';
import { Transaction } from '../../src/database/transaction';
import { setting } from '../support/test-database';
import type { RecordedStatement } from './recorded-statements';

/** Number of executions of a statement whose values are kept. */
const KEPT = 3;
/** Files whose methods run what others pass them. */
const RUNNERS =
  /^src\/(database\/(\w+\/)?(database|database-client|transaction|open-transaction|page-statement|pipelined-reads|shared-reads|nodes|node-\w+|workspace-batcher)|queue\/polling\/[\w-]+)\.ts/;

type Method = (this: unknown, ...args: unknown[]) => unknown;
interface Query {
  text?: string;
  values?: unknown[];
}

const recorded = ((globalThis as { recordedStatements?: Map<string, number> }).recordedStatements ??= new Map<
  string,
  number
>());
const places = new Map<string, string>();

// Methods that a repository calls directly: its own method is still on the stack.
const READS = ['query', 'prepared', 'pipelinedRead', 'readInOrder', 'poll', 'readByIndex'];
for (const method of READS) before(Database.prototype, method, (sql) => notePlace(sql as string));
before(Nodes.prototype, 'readWorkspaces', (sql) => notePlace(sql as string));
before(Database.prototype, 'preparedWithin', (_, sql) => notePlace(sql as string));
for (const method of ['query', 'prepared', 'pipeline'])
  before(Transaction.prototype, method, (sql) => notePlace(sql as string));

// Methods that send.
before(DatabaseClient.prototype, 'addToGroup', (_, sql, values) => record(sql as string, values));
before(DatabaseClient.prototype, 'query', (query, values) =>
  typeof query === 'string' ? record(query, values) : record((query as Query).text, (query as Query).values),
);

/** Has a method call `note` with its arguments first. */
function before(prototype: object, name: string, note: (...args: unknown[]) => void): void {
  const methods = prototype as Record<string, Method>;
  const method = methods[name]!;
  methods[name] = function (...args) {
    note(...args);
    return method.apply(this, args);
  };
}

function notePlace(text: string): void {
  const [sql] = withPresentTime(text, []);
  if (!places.has(sql)) places.set(sql, placeOnStack() ?? '');
}

function record(sql = '', values: unknown = []): void {
  const count = recorded.get(sql) ?? 0;
  if (count >= KEPT) return;
  recorded.set(sql, count + 1);
  const place = places.get(sql) || placeOnStack();
  if (!place) return;
  const statement: RecordedStatement = { sql, place, values: (values as unknown[]).map(written) };
  const file = join(setting('RECORDED_STATEMENTS'), `${process.pid}.jsonl`);
  appendFileSync(file, `${JSON.stringify(statement)}\n`);
}

function written(value: unknown): RecordedStatement['values'][number] {
  const sent = prepareValue(value);
  return Buffer.isBuffer(sent) ? { hex: sent.toString('hex') } : sent;
}

/** Returns the method of the service that runs the statement; undefined for a statement of a test. */
function placeOnStack(): string | undefined {
  for (const frame of framesOfStack()) {
    const [, name, path] = /^(?:async )?(?:(\S+) (?:\[as \w+\] )?\()?(\/[^():]+)/.exec(frame) ?? [];
    const file = path && relative(process.cwd(), path);
    if (!file || RUNNERS.test(file) || file.startsWith('test/citus/')) continue;
    if (file.startsWith('test/')) return undefined;
    if (/^(src|dashboard\/server\/src)\//.test(file) && name?.includes('.')) return name;
  }
  return undefined;
}

/** Returns the frames as V8 names them: with a source map, a frame has the name of what it calls. */
function framesOfStack(): string[] {
  const usual = Object.assign({ prepareStackTrace: undefined }, Error);
  Object.assign(Error, {
    prepareStackTrace: (_: Error, frames: object[]) => frames.map(String),
    stackTraceLimit: 60,
  });
  const frames = new Error().stack as unknown as string[];
  Object.assign(Error, usual);
  return frames;
}
