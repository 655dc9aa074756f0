import { existsSync, readFileSync } from 'node:fs';
import { HIGHEST_ID, LOWEST_ID } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { Transaction } from '../../src/database/transaction';
import { MessageIndexRepository, MessageKeys } from '../../src/message-search/message-index.repository';
import { MessageIndexer } from '../../src/message-search/message-indexer';
import { MessageSearchService } from '../../src/message-search/message-search.service';
import { SettledTime } from '../../src/message-search/settled-time';
import { Metrics } from '../../src/metrics/metrics';
import { MessagingHost } from '../support/messaging-host';
import { expectOnlyIndexed, nodesOf, PlanReader, rowsRead } from './plans';

/**
 * Number of messages in the workspace. `MESSAGES=1000000 npx jest test/plans/message-search` gives the
 * figures of docs/project/performance.md.
 */
const MESSAGES = Number(process.env.MESSAGES ?? 60_000);
const STEP = 100;
/** Unit of the system's processor times. */
const TICK_MS = 10;
const WORDS = 50_000;
const WORDS_A_MESSAGE = 12;
/** Limit of the rows that a page of a search may read. */
const MAX_ROWS = 20_000;

describe(`the search in ${MESSAGES.toLocaleString('en')} messages`, () => {
  let host: MessagingHost;
  let reader: PlanReader;
  let workspace: { id: string };

  beforeAll(async () => {
    host = await MessagingHost.create();
    reader = await PlanReader.start(host.stores.databaseUrl);
    workspace = await host.make.workspace();
    const contact = await host.make.contact(workspace);
    await host.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
       SELECT $1, ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, $2, 'WIDGET', 'OPEN', now(), now()
       FROM generate_series(0, 999) i`,
      [workspace.id, contact.id],
    );
    for (let first = 0; first < MESSAGES; first += 50_000)
      await host.query(
        `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
         SELECT $1, ('01900000-0000-7000-8000-' || lpad(to_hex(i::bigint * 7919 % 1000), 12, '0'))::uuid,
           ('0190' || lpad(to_hex(i), 8, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, 'CUSTOMER',
           (SELECT string_agg('w' || floor(power(${WORDS}, random()))::integer, ' ')
            FROM generate_series(1, ${WORDS_A_MESSAGE}) WHERE i >= 0)
             || CASE WHEN i = 1000 OR i % ${Math.floor(MESSAGES / 3)} = 7 THEN ' needle' ELSE '' END,
           now()
         FROM generate_series($2::integer, $3::integer) i`,
        [workspace.id, first, Math.min(MESSAGES, first + 50_000) - 1],
      );
    await host.query('VACUUM ANALYZE messages').catch(() => undefined);
    await fillIndex();
    await reader.readParts();
  }, 1_800_000);
  afterAll(async () => {
    await reader.stop();
  });

  const search = (text: string, cursor?: string) =>
    host.get(MessageSearchService).search(workspace.id, { text, cursor, limit: 20 }, SYSTEM);

  async function fillIndex(): Promise<void> {
    const settled = new SettledTime(host.get(Database));
    await settled.sample();
    const index = host.get(MessageIndexRepository);
    const indexer = new MessageIndexer(index, settled, host.get(Metrics));
    await insertEvents();
    const figures = await measureFilling(MESSAGES, async () => {
      const indexNext = () =>
        host.get(Database).queueTransaction((tx) => indexer.indexNext(tx, workspace.id, STEP));
      while ((await indexNext())?.isUnfinished);
    });
    const [size] = await host.query<Record<string, number>>(
      `SELECT pg_table_size('message_search')::float8 / ${MESSAGES} AS "table",
              pg_relation_size('message_search_pkey')::float8 / ${MESSAGES} AS key,
              pg_relation_size('message_search_terms_idx')::float8 / ${MESSAGES} AS terms`,
    );
    report({ ...figures, 'bytes a message': size });
  }

  /** Adds the events of the messages. */
  async function insertEvents(): Promise<void> {
    await host.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT tenant_id, id, 'message.created',
         json_build_object('conversationId', conversation_id, 'message', json_build_object('body', body)), now()
       FROM messages WHERE tenant_id = $1`,
      [workspace.id],
    );
  }

  /** Runs a filling, and returns microseconds a message: of PostgreSQL's processors, and on the clock. */
  async function measureFilling(messages: number, fill: () => Promise<void>) {
    const before = await readProcessorMs();
    const start = performance.now();
    await fill();
    const clockMs = performance.now() - start;
    const postgresMs = [...(await readProcessorMs())].reduce(
      (sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0),
      0,
    );
    return {
      postgresMicros: Math.round((postgresMs * 1_000) / messages),
      clockMicros: Math.round((clockMs * 1_000) / messages),
    };
  }

  /**
   * Reads the processor time in milliseconds of each connection's process, by its id. Empty on systems
   * without /proc.
   */
  async function readProcessorMs(): Promise<Map<number, number>> {
    if (!existsSync('/proc')) return new Map();
    const rows = await host.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
    );
    return new Map(
      rows.map(({ pid }) => {
        const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11);
        return [pid, (Number(user) + Number(system)) * TICK_MS];
      }),
    );
  }

  function report(figures: object): void {
    if (process.env.MESSAGES) console.log(JSON.stringify(figures, null, 2));
  }

  /** Searches, and returns the page with the number of rows that its statements read. */
  async function measure(text: string, cursor?: string) {
    const plans = await reader.read(() => search(text, cursor), /^(SELECT)/);
    // Each prepared statement has two plans: the values' own, and that for all values, which is used.
    const rows = plans.map(rowsRead).reduce((sum, count) => sum + count, 0) / 2;
    const start = performance.now();
    const page = await search(text, cursor);
    report({ text, cursor, rows, ms: Math.round(performance.now() - start), found: page.data.length });
    return { page, rows, plans };
  }

  it.each([
    ['rare', 'needle', 4],
    ['absent', 'absent', 0],
    ['frequent', 'w1', 20],
    ['frequent ones together', 'w1 w2 w3', 20],
    ['rare and frequent ones together', 'w1 w2 needle', undefined],
    ['a phrase of frequent words that no message has', '"w1 w2 w3 w1 w2 w3 w1"', undefined],
  ])('reads a bounded number of rows for a term: %s', async (_, text, count) => {
    const { page, rows, plans } = await measure(text);
    expect(rows).toBeLessThanOrEqual(MAX_ROWS);
    if (count !== undefined) expect(page.data).toHaveLength(count);
    for (const plan of plans)
      expect(
        nodesOf(plan)
          .filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Rows'] > 0)
          .map((node) => node['Relation Name']),
      ).toEqual([]);
  });

  it('costs the indexer as many rows as a step has', async () => {
    const index = host.get(MessageIndexRepository);
    const { id } = workspace;
    const newest = await host.query<MessageKeys & { bucket: number }>(
      `SELECT message_id AS id, conversation_id AS "conversationId", bucket FROM message_search
       WHERE tenant_id = $1 ORDER BY message_id DESC OFFSET ${Math.floor(MESSAGES / 2)} LIMIT ${STEP}`,
      [id],
    );
    const texts = newest.map(({ id: messageId, conversationId, bucket }) => ({
      messageId,
      conversationId,
      bucket,
      terms: ['w1', 'w2'],
    }));
    const erased = {
      tenantId: id,
      conversationId: newest[0]!.conversationId,
      ids: newest.map((message) => message.id),
      eventIds: [],
      withContact: false,
    };
    const steps: Record<string, (tx: Transaction) => Promise<unknown>> = {
      'lists new texts': (tx) => index.listNewTexts(tx, id, { after: LOWEST_ID, before: HIGHEST_ID }, STEP),
      'adds texts': (tx) => index.insertTexts(tx, id, texts),
      'erases messages': (tx) => index.erase(tx, erased),
    };
    for (const [name, step] of Object.entries(steps)) {
      const undone = new Error(name);
      const run = () =>
        host.get(Database).queueTransaction(async (tx) => {
          await step(tx);
          throw undone;
        });
      const plans = await reader.read(
        () => expect(run()).rejects.toBe(undone),
        /^(SELECT|INSERT|UPDATE|DELETE)/,
      );
      for (const plan of plans) {
        expectOnlyIndexed(plan, ['messages', 'events', 'message_search']);
        // A listed message is looked up by its key.
        expect([name, rowsRead(plan) <= 2 * STEP + 1]).toEqual([name, true]);
      }
    }
  });

  it('goes on by cursor to the end, with as many rows a page', async () => {
    const ids: string[] = [];
    for (let cursor: string | null = HIGHEST_ID, pages = 0; cursor && pages < 20; pages++) {
      const { page, rows } = await measure('w1 w17 w40', cursor);
      expect(rows).toBeLessThanOrEqual(MAX_ROWS);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
  });
});
