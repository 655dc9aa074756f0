import { must } from './measure.mjs';

const PAGES = 20;

/** What callers ask of the measured workspace: of each list a number of pages, from all over its rows. */
export async function requestsOf(/** @type {import('./stage.mjs').Place} */ place) {
  const { id: tenantId } = place.fixture.measured;
  /** So many rows, spread evenly over all. */
  const spread = (table, columns, condition = 'true') =>
    place.query(
      `SELECT ${columns} FROM (
         SELECT *, row_number() OVER (ORDER BY id DESC) - 1 AS place, count(*) OVER () AS rows
         FROM ${table} WHERE tenant_id = $1 AND ${condition}) AS numbered
       WHERE place % greatest(1, rows / $2) = 0 LIMIT $2`,
      [tenantId, PAGES],
    );
  const cursors = (await spread('conversations', 'id')).map(({ id }) => id);
  const contacts = await spread('contacts', 'name, email, phone');
  // Every hundredth conversation is a long one.
  const long = await place.query(
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
  };
}

const FILTERS = ['status=OPEN', 'status=SNOOZED', 'channel=TELEGRAM', 'status=CLOSED&channel=WHATSAPP'];

/** How many rows an answer must have. */
const isFull = (/** @type {number} */ rows) => rows === 50;
const isSome = (/** @type {number} */ rows) => rows > 0;
const isNone = (/** @type {number} */ rows) => rows === 0;

/** The first page and some further down, of each form of the list in turn. */
function pages(filters, cursors, rows) {
  return [null, ...cursors.slice(1)].map((cursor, n) => {
    const query = [filters[n % filters.length], cursor && `cursor=${cursor}`].filter(Boolean).join('&');
    return { path: `/api/v1/conversations${query && `?${query}`}`, rows };
  });
}

/** What somebody would type to find a person: a name, a family name, an address, digits; and once what nobody has. */
function searchFor({ name, email, phone }, n) {
  const [first, last] = name.split(' ');
  const kinds = [name, last, email.split('@')[0], phone.replace('+34 ', ''), first, `${last}qq`];
  const q = kinds[n % kinds.length];
  return { path: `/api/v1/contacts?${new URLSearchParams({ q })}`, rows: q.endsWith('qq') ? isNone : isSome };
}
