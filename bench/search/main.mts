// Measures the search in a workspace of 10,000,000 messages, and the indexer: `npm run bench:search`. The
// data stays in the folder DATA_DIR, in which the next run finds it.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { SYSTEM } from '#dist/access/principal.js';
import { MessagingModule } from '#dist/index.js';
import { MessageSearchService } from '#dist/message-search/message-search.service.js';
import { startMigratedServers } from '../../scripts/app.mjs';
import { runLauncher } from '../../scripts/processes.mjs';
import type { Servers } from '../../scripts/servers.mjs';
import { microseconds, ms, number } from '../support/report.mts';
import { percentilesOf } from '../support/statistics.mts';
import { requireLinux } from '../support/usage.mts';
import { IndexerMeter } from './indexer-meter.mts';
import { ReadMeter, type Reads } from './read-meter.mts';
import { ABSENT, filledWorkspace, RARE } from './workspace.mts';

const { values: options } = parseArgs({ options: { messages: { type: 'string', default: '10000000' } } });
/** Limit of the rows that a page may read, and of the microseconds of PostgreSQL that a message may take. */
const [MAX_ROWS, MAX_MICROS] = [20_000, 300];
const PAGE = 20;
/** Number of pages that are read one after the other. */
const PAGES = 20;
/** Number of times that each first page is read. The first of them finds least in memory. */
const TIMES = 5;
/** Number of messages that the indexer is measured with. */
const INDEXED = 20_000;
const SEARCHES = {
  'a rare word': RARE,
  'an absent word': ABSENT,
  'a frequent word': 'w1',
  'three frequent words': 'w1 w2 w3',
  'frequent words with a rare one': `w1 w2 ${RARE}`,
  'a phrase of frequent words in no message': '"w1 w2 w3 w1 w2 w3 w1"',
};

const log = (line: string) => process.stderr.write(`${line}\n`);
let servers: Servers | undefined;

async function run() {
  requireLinux();
  const started = await startMigratedServers(log);
  servers = started.servers;
  const pool = new pg.Pool({ connectionString: servers.databaseAdminUrl, max: 4 });
  pool.on('error', () => undefined); // its server ends first
  const workspace = await filledWorkspace(pool, Number(options.messages), log);
  const app = await NestFactory.createApplicationContext(
    MessagingModule.forRoot({
      databaseUrl: servers.databaseUrl,
      redisUrl: servers.redisUrl,
      secretsKeys: `bench:${randomBytes(32).toString('base64')}`,
      // The calls come one after the other, so that all are on one connection.
      databasePoolSize: 2,
    }),
    { logger: ['error', 'warn'] },
  );
  try {
    const service = app.get(MessageSearchService, { strict: false });
    const reads = new ReadMeter(app, pool);
    const search = (text: string, cursor?: string) =>
      reads.measure(() => service.search(workspace.id, { text, cursor, limit: PAGE }, SYSTEM));
    const lines: string[] = [];
    for (const [name, text] of Object.entries(SEARCHES)) {
      log(name);
      const all: Reads[] = [];
      for (let n = 0; n < TIMES; n++) all.push(await search(text));
      lines.push(lineOf(name, all));
    }
    log('Going on by cursor');
    lines.push(lineOf(`${PAGES} pages of frequent words`, await readPages(search, 'w1 w17 w40')));
    lines.push(lineOf(`${PAGES} pages of a frequent word`, await readPages(search, 'w1')));
    lines.push(lineOf('pages of a rare word', await readPages(search, RARE)));
    console.log(`\n${lines.join('\n')}\n`);
    log('Indexing');
    const meter = new IndexerMeter(app, pool, workspace);
    const figures = await meter.measure(INDEXED);
    console.log(
      `A message: PostgreSQL ${microseconds(figures.postgres)} (at most ${microseconds(MAX_MICROS)}: ` +
        `${figures.postgres <= MAX_MICROS ? 'met' : 'missed'}), ${microseconds(figures.clock)} on the clock`,
    );
    console.log(`bytes a message: ${JSON.stringify(await workspace.bytes(pool))}`);
  } finally {
    await app.close();
    await pool.end();
  }
}

/** Reads pages of a search up to the last one, or as many as are measured. */
async function readPages(
  search: (text: string, cursor?: string) => Promise<Reads>,
  text: string,
): Promise<Reads[]> {
  const pages: Reads[] = [];
  for (let cursor: string | null | undefined; cursor !== null && pages.length < PAGES;) {
    const page = await search(text, cursor);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

function lineOf(name: string, all: Reads[]): string {
  const most = (values: number[]) => number(Math.max(...values));
  const { p50, p95 } = percentilesOf(all.map((one) => one.ms));
  const rows = all.map((one) => one.rows);
  const cells = [
    name,
    `${all.length} × ${all.map(({ found }) => found).join(' ')}`,
    `${most(rows)} rows`,
    `${most(all.map(({ buffers }) => buffers))} buffers, ${most(all.map(({ fromDisk }) => fromDisk))} not in memory`,
    `${ms(all[0]!.ms)} first`,
    `${ms(p50)}, ${ms(p95)}`,
    Math.max(...rows) <= MAX_ROWS ? 'met' : 'missed',
  ];
  return `| ${cells.join(' | ')} |`;
}

await runLauncher(run, { stop: () => servers?.stop() });
