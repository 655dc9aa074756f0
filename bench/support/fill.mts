import { foldText } from '#dist/common/folded-text.js';
import type pg from 'pg';
import { withFillingClient, withoutIndexes } from './filling-client.mts';
import { EPOCH_MS, STEP_MS, type Fixture, type Receiving } from './fixture.mts';
import { insertFixture, insertReceiving, type UrlOf } from './insert-workspaces.mts';
import { insertOldDeliveries } from './old-deliveries.mts';
import type { Sizes } from './plan.mts';

/**
 * Fills a migrated, empty database. For speed PostgreSQL generates the rows itself, secondary indexes are
 * dropped until the rows are in, and foreign keys are not checked.
 */
export async function fill(pool: pg.Pool, fixture: Fixture, sizes: Sizes, urlOf: UrlOf): Promise<void> {
  await withFillingClient(pool, (db) => insertFixture(db, fixture, urlOf));
  if (sizes.conversations > 0)
    // In parallel: the search index takes about as long as everything else.
    await Promise.all([
      withFillingClient(pool, (db) => insertContacts(db, fixture, sizes)),
      withFillingClient(pool, async (db) => {
        await insertConversations(db, fixture, sizes);
        await insertMessages(db, fixture, sizes);
        await insertOldDeliveries(db, fixture, sizes);
      }),
    ]);
  await pool.query('VACUUM (ANALYZE)');
  await pool.query('CHECKPOINT');
}

/** Inserts workspaces with webhook endpoints into a filled database. */
export function addReceiving(pool: pg.Pool, receiving: Receiving[], urlOf: UrlOf): Promise<void> {
  return withFillingClient(pool, (db) => insertReceiving(db, receiving, urlOf));
}

/**
 * SQL of a row's workspace. Every second row belongs to the measured workspace, so that its rows lie between
 * the rows of other workspaces.
 */
const TENANT = `($1::uuid[])[CASE WHEN n % 2 = 0 THEN 1 ELSE 2 + n / 2 % (array_length($1::uuid[], 1) - 1) END]`;
const MS = `${EPOCH_MS} + n::bigint * ${STEP_MS}`;

const tenantIds = ({ measured, others }: Fixture) => [measured, ...others].map(({ id }) => id);

const FIRST_NAMES =
  `Ada Ben Chloé Dan Eva Filip Grace Hugo Ida José Kai Lena Max Nora Olga Paul Quinn Rosa Sven Tom
  Uma Vera Will Ximena Yara Zoë Иван Ольга Amélie Björn`.split(/\s+/);
const SYLLABLES = 'ba ker lin mo ra sen to vel wi za cho du fer gan hol jen kov mar nis pet'.split(' ');

function insertContacts(db: pg.PoolClient, fixture: Fixture, { conversations }: Sizes): Promise<void> {
  return withoutIndexes(db, 'contacts', () =>
    db.query(
      `INSERT INTO contacts (tenant_id, id, name, email, phone, attributes, search_text, created_at, updated_at)
       SELECT ${TENANT}, pg_temp.id_of(${MS}, 0), first || ' ' || initcap(last),
              lower(first) || '.' || last || n || '@example.com', '+34 6' || lpad((n * 7919 % 100000000)::text, 8, '0'),
              '{"city": "Valencia"}',
              folded || ' ' || last || E'\\n' || folded || '.' || last || n || E'@example.com\\n' || '+34 6'
                || lpad((n * 7919 % 100000000)::text, 8, '0') || E'\\n\\x01+346' || lpad((n * 7919 % 100000000)::text, 8, '0')
                || E'\\n',
              pg_temp.at(${MS}), pg_temp.at(${MS})
       FROM (SELECT n, pg_temp.pick(n, 1, $2) AS first, pg_temp.pick(n, 1, $5) AS folded,
                    pg_temp.pick(n, 2, $3) || pg_temp.pick(n, 3, $3) || pg_temp.pick(n, 4, $3) AS last
             FROM generate_series(1, $4::bigint) AS n) AS people`,
      [tenantIds(fixture), FIRST_NAMES, SYLLABLES, conversations, FIRST_NAMES.map(foldText)],
    ),
  );
}

function insertConversations(db: pg.PoolClient, fixture: Fixture, { conversations }: Sizes): Promise<void> {
  return withoutIndexes(db, 'conversations', () =>
    db.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, last_message_preview,
                                  last_message_at, created_at, updated_at)
       SELECT ${TENANT}, pg_temp.id_of(${MS}, 0), pg_temp.id_of(${MS}, 0),
              pg_temp.pick(n, 5, '{WIDGET,WHATSAPP,TELEGRAM,MESSENGER,INSTAGRAM}'),
              CASE WHEN n / 2 % 100 = 0 THEN 'SNOOZED' ELSE pg_temp.pick(n, 6, '{OPEN,CLOSED,CLOSED}') END,
              'Where is my parcel? It should have come on Tuesday.',
              pg_temp.at(${MS}), pg_temp.at(${MS}), pg_temp.at(${MS})
       FROM generate_series(1, $2::bigint) AS n`,
      [tenantIds(fixture), conversations],
    ),
  );
}

/** Distance between long conversations: every hundredth is one. The mean is five messages. */
const LONG_EVERY = 100;
const LONG = 250;

async function insertMessages(db: pg.PoolClient, fixture: Fixture, { conversations }: Sizes): Promise<void> {
  await db.query(
    `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                           created_at)
     SELECT ${TENANT}, pg_temp.id_of(${MS}, 0), pg_temp.id_of(${MS} + m, m),
            CASE WHEN m % 2 = 0 THEN 'AGENT' ELSE 'CUSTOMER' END,
            CASE WHEN m % 2 = 0 THEN $3::uuid END,
            'Where is my parcel? It should have come on Tuesday, and it is number ' || m || ' of them.',
            CASE WHEN m % 2 = 0 THEN 'DELIVERED' END,
            pg_temp.at(${MS} + m)
     FROM generate_series(1, $2::bigint) AS n,
          generate_series(1, CASE WHEN n % ${LONG_EVERY} = 0 THEN ${LONG} ELSE 2 + n / 2 % 2 END) AS m`,
    [tenantIds(fixture), conversations, fixture.measured.agentId],
  );
}
