import type { Deployment } from './deployment.mts';
import { itemAt, itemInTurn } from './items.mts';
import { must } from './measure.mts';

const PAGES = 20;

/** GET request, and a check of the number of items in its response; null if the response is no list. */
export interface Read {
  path: string;
  rows: Check | null;
}

type Check = (rows: number) => boolean;

interface Contact {
  name: string;
  email: string;
  phone: string;
}

export type ReadName = keyof Awaited<ReturnType<typeof requestsOf>>;

/**
 * Returns the requests to the measured workspace, by kind of read, such as `messages`. They cover pages from
 * all parts of each list.
 */
export async function requestsOf(deployment: Deployment) {
  const { id: tenantId } = deployment.fixture.measured;
  /** Returns PAGES rows of a table, evenly spread over all of the measured workspace's. */
  const spread = <Row extends object>(table: string, columns: string) =>
    deployment.query<Row>(
      `SELECT ${columns} FROM (
         SELECT *, row_number() OVER (ORDER BY id DESC) - 1 AS position, count(*) OVER () AS rows
         FROM ${table} WHERE tenant_id = $1) AS numbered
       WHERE position % greatest(1, rows / $2) = 0 LIMIT $2`,
      [tenantId, PAGES],
    );
  const cursors = (await spread<{ id: string }>('conversations', 'id')).map(({ id }) => id);
  const contacts = await spread<Contact>('contacts', 'name, email, phone');
  // Every hundredth conversation is a long one.
  const long = await deployment.query<{ id: string }>(
    `SELECT conversation_id AS id FROM messages WHERE tenant_id = $1 AND conversation_id = ANY (
       SELECT id FROM conversations WHERE tenant_id = $1 ORDER BY id DESC LIMIT 5000)
     GROUP BY 1 HAVING count(*) > 50 ORDER BY 1 LIMIT $2`,
    [tenantId, PAGES],
  );
  must(cursors.length === PAGES && long.length === PAGES, 'the data is not what it must be');
  const me: Read[] = [{ path: '/api/v1/me', rows: null }];
  return {
    me,
    conversations: pages([''], cursors, isFull),
    filtered: pages(FILTERS, cursors, isSome),
    messages: long.map(({ id }): Read => ({
      path: `/api/v1/conversations/${id}/messages`,
      rows: isFull,
    })),
    contacts: contacts.map(searchFor),
    frequentContacts: contacts.flatMap(frequentSearchesFor),
    rareContacts: contacts.map(rareSearchFor),
  };
}

const FILTERS = ['status=OPEN', 'status=SNOOZED', 'channel=TELEGRAM', 'status=CLOSED&channel=WHATSAPP'];

const isFull: Check = (rows) => rows === 50;
const isSome: Check = (rows) => rows > 0;
const isOne: Check = (rows) => rows === 1;
const isNone: Check = (rows) => rows === 0;

/**
 * Returns requests for the first page of conversations and for one after each cursor. The filters are used in
 * turn.
 */
function pages(filters: string[], cursors: string[], rows: Check): Read[] {
  return [null, ...cursors.slice(1)].map((cursor, n) => {
    const query = [itemInTurn(filters, n), cursor && `cursor=${cursor}`].filter(Boolean).join('&');
    return { path: `/api/v1/conversations${query && `?${query}`}`, rows };
  });
}

/**
 * Returns searches that find many contacts: a first name, which one in 30 has, and a domain that all have.
 */
function frequentSearchesFor({ name }: Contact): Read[] {
  return [firstOf(name, ' '), 'example.com'].map((q) => search(q, isFull));
}

/** Returns a search that finds one contact or none: a mail name, a phone number, or a word that none has. */
function rareSearchFor({ email, phone }: Contact, n: number): Read {
  const local = firstOf(email, '@');
  const q = itemInTurn([local, phone.replace('+34 ', ''), `${local}qq`], n);
  return search(q, q.endsWith('qq') ? isNone : isOne);
}

/**
 * Returns a search like people's: a name, a family name, a mail name, digits of a phone number, or a word
 * that no contact has.
 */
function searchFor({ name, email, phone }: Contact, n: number): Read {
  const [first, last] = name.split(' ') as [string, string];
  const kinds = [name, last, firstOf(email, '@'), phone.replace('+34 ', ''), first, `${last}qq`];
  const q = itemInTurn(kinds, n);
  return search(q, q.endsWith('qq') ? isNone : isSome);
}

const firstOf = (text: string, separator: string) => itemAt(text.split(separator), 0);

const search = (q: string, rows: Check): Read => ({
  path: `/api/v1/contacts?${new URLSearchParams({ q }).toString()}`,
  rows,
});
