import { must } from './measure.mjs';

const PAGES = 20;

/** Requests to the measured workspace: pages from all parts of each list. */
export async function requestsOf(/** @type {import('./environment.mjs').Deployment} */ deployment) {
  const { id: tenantId } = deployment.fixture.measured;
  /** PAGES rows, evenly spread. */
  const spread = (table, columns, condition = 'true') =>
    deployment.query(
      `SELECT ${columns} FROM (
         SELECT *, row_number() OVER (ORDER BY id DESC) - 1 AS position, count(*) OVER () AS rows
         FROM ${table} WHERE tenant_id = $1 AND ${condition}) AS numbered
       WHERE position % greatest(1, rows / $2) = 0 LIMIT $2`,
      [tenantId, PAGES],
    );
  const cursors = (await spread('conversations', 'id')).map(({ id }) => id);
  const contacts = await spread('contacts', 'name, email, phone');
  // Every hundredth conversation is a long one.
  const long = await deployment.query(
    `SELECT conversation_id AS id FROM messages WHERE tenant_id = $1 AND conversation_id = ANY (
       SELECT id FROM conversations WHERE tenant_id = $1 ORDER BY id DESC LIMIT 5000)
     GROUP BY 1 HAVING count(*) > 50 ORDER BY 1 LIMIT $2`,
    [tenantId, PAGES],
  );
  must(cursors.length === PAGES && long.length === PAGES, 'the data is not what it must be');
  return {
    me: [{ path: '/api/v1/me', rows: null }],
    conversations: pages([''], cursors, isFull),
    filtered: pages(FILTERS, cursors, isSome),
    messages: long.map(({ id }) => ({ path: `/api/v1/conversations/${id}/messages`, rows: isFull })),
    contacts: contacts.map(searchFor),
    frequentContacts: contacts.flatMap(frequentSearchesFor),
    rareContacts: contacts.map(rareSearchFor),
  };
}

const FILTERS = ['status=OPEN', 'status=SNOOZED', 'channel=TELEGRAM', 'status=CLOSED&channel=WHATSAPP'];

/** Checks of the number of rows in a response. */
const isFull = (rows) => rows === 50;
const isSome = (rows) => rows > 0;
const isOne = (rows) => rows === 1;
const isNone = (rows) => rows === 0;

/** The first page and later ones, with each filter in turn. */
function pages(filters, cursors, rows) {
  return [null, ...cursors.slice(1)].map((cursor, n) => {
    const query = [filters[n % filters.length], cursor && `cursor=${cursor}`].filter(Boolean).join('&');
    return { path: `/api/v1/conversations${query && `?${query}`}`, rows };
  });
}

/** For what one in 30 contacts has, and for what all have. */
function frequentSearchesFor({ name }) {
  return [name.split(' ')[0], 'example.com'].map((q) => search(q, isFull));
}

/** For what one contact has, and for what none has. */
function rareSearchFor({ email, phone }, n) {
  const local = email.split('@')[0];
  const q = [local, phone.replace('+34 ', ''), `${local}qq`][n % 3];
  return search(q, q.endsWith('qq') ? isNone : isOne);
}

/** Typical searches: a name, a family name, an address, digits; and one without a result. */
function searchFor({ name, email, phone }, n) {
  const [first, last] = name.split(' ');
  const kinds = [name, last, email.split('@')[0], phone.replace('+34 ', ''), first, `${last}qq`];
  const q = kinds[n % kinds.length];
  return search(q, q.endsWith('qq') ? isNone : isSome);
}

const search = (q, rows) => ({ path: `/api/v1/contacts?${new URLSearchParams({ q })}`, rows });
