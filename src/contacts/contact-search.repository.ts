import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isStatementTimeout } from '../database/driver/database-errors';
import { HIGHEST_ID } from '../common/ids';
import { Closable } from '../common/work-budget';
import { WorkBudgets } from '../http/limits/work-budgets';
import { Database } from '../database/database';
import { expectFewRows } from '../database/index-condition';
import { areIndexable, SearchPattern, searchPatterns } from './contact-search';
import { CONTACT_COLUMNS, ListedContact } from './contact.entity';

/** Number of the newest contacts that a search reads first. They fill a page of a frequent term. */
const NEWEST = 200;
/** Limit of the contacts that one statement reads in the order of the list. */
const STEP = 10_000;
/** Limit of the contacts that one statement reads from the search index. */
const MAX_INDEXED = 5_000;

/** Milliseconds after which a search of several statements fails. */
const MAX_SEARCH_MS = 5_000;
/** Milliseconds after which one statement fails. With nothing cached, a statement takes 150 ms. */
const STATEMENT_TIMEOUT_MS = 1_500;

/** Row of a search by the index. If no contact is found, one row without a contact has the count. */
interface Found extends ListedContact {
  /** Number of contacts that the statement read from the index, at most MAX_INDEXED + 1. */
  indexed: number;
}

interface Step extends ListedContact {
  /** Id below which the next step searches; null at the end of the list. */
  next: string | null;
}

const hasContact = ({ id }: { id: string | null }) => id !== null;

interface Search {
  tenantId: string;
  patterns: SearchPattern[];
  /** Id below which contacts are searched. */
  cursor: string;
  count: number;
  caller: Closable | undefined;
}

/**
 * Finds contacts by a part of their name, e-mail address or phone number. However frequent the term is, each
 * statement reads a bounded number of rows, all of this workspace. After each statement the search releases
 * its connection and its slot.
 */
@Injectable()
export class ContactSearchRepository {
  constructor(
    private readonly database: Database,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Finds up to `count` contacts below the cursor, newest first.
   * @param caller the search ends when this response is closed
   * @throws AppError UNAVAILABLE (the search takes too long, or the process runs too many), RATE_LIMITED (the
   *   workspace runs too many)
   */
  async find(
    tenantId: string,
    { q, cursor = HIGHEST_ID, count }: { q: string; cursor?: string; count: number },
    caller?: Closable,
  ): Promise<ListedContact[]> {
    const search = { tenantId, patterns: searchPatterns(q), cursor, count, caller };
    return (await this.findFast(search)) ?? this.walk(search);
  }

  /**
   * Finds contacts by the index. Returns null if the index cannot find the patterns, or finds more than
   * MAX_INDEXED contacts.
   */
  private async findFast(search: Search): Promise<ListedContact[] | null> {
    const { tenantId, patterns, cursor, count } = search;
    if (!areIndexable(patterns)) return null;
    const parameters = [
      tenantId,
      cursor,
      count,
      ...patterns.map(({ like }) => like),
      ...patterns.map(({ has }) => has),
    ];
    const rows = await this.read<Found>(search, find(patterns.length), parameters);
    return rows[0]!.indexed > MAX_INDEXED ? null : rows.filter(hasContact);
  }

  /** Searches the whole list, STEP contacts at a time. */
  private async walk(search: Search): Promise<ListedContact[]> {
    const { tenantId, patterns, count } = search;
    const giveUpAt = performance.now() + MAX_SEARCH_MS;
    const found: ListedContact[] = [];
    for (let from: string | null = search.cursor; from !== null;) {
      if (performance.now() > giveUpAt) throw tooLong();
      const parameters: unknown[] = [
        tenantId,
        from,
        count - found.length,
        ...patterns.map(({ like }) => like),
      ];
      const rows: Step[] = await this.inTurn(search, () =>
        this.read<Step>(search, step(matchesOneOf(patterns.length)), parameters),
      );
      found.push(...rows.filter(hasContact));
      from = rows[0]!.next;
    }
    return found;
  }

  /**
   * Runs one step of a search through the whole list. All such searches of a workspace together run one step
   * at a time, so that they use one connection.
   */
  private async inTurn<T>({ tenantId, caller }: Search, step: () => Promise<T>): Promise<T> {
    const release = await this.budgets.acquire('walks', tenantId, caller);
    return step().finally(release);
  }

  /** Runs a statement with a slot of its own, unless the caller's response is closed. */
  private async read<Row>({ tenantId, caller }: Search, sql: string, parameters: unknown[]): Promise<Row[]> {
    const release = await this.budgets.acquire('searches', tenantId, caller);
    try {
      if (caller?.closed) throw AppError.busy();
      return await this.database.preparedWithin<Row>(STATEMENT_TIMEOUT_MS, sql, parameters);
    } catch (error) {
      throw isStatementTimeout(error) ? tooLong() : error;
    } finally {
      release();
    }
  }
}

/** Number of the parameter with the first pattern, as in `$4`. */
const FIRST_PATTERN = 4;

function parametersFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `$${first + index}`);
}

function tooLong(): AppError {
  return AppError.because('UNAVAILABLE', 'search_too_long');
}

/**
 * Returns the SQL condition that one of several patterns matches. PostgreSQL evaluates each sub-select once,
 * not once a row. The planner does not see the value in it, so that a connection plans the statement once.
 */
const matchesOneOf = (patterns: number) =>
  `(${parametersFrom(FIRST_PATTERN, patterns)
    .map((like) => `search_text LIKE (SELECT ${like}::text)`)
    .join(' OR ')})`;

/**
 * Returns SQL that selects the next `contacts` contacts of the list, and filters them. The planner does not
 * see the value of the inner limit, and assumes a tenth of the rows, so it reads the contacts in order and
 * does not sort them all. The outer limit keeps its estimate of the cost low: at a high one PostgreSQL would
 * compile the statement (`jit`).
 */
const below = (matches: string, contacts: number) => `
  SELECT * FROM (
    SELECT * FROM (
      SELECT * FROM contacts WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT (SELECT ${contacts})
    ) AS walked ORDER BY id DESC LIMIT ${contacts}
  ) AS walked WHERE ${matches}`;

const hasGramsOf = (text: string) =>
  `search_grams(tenant_id, search_text, false) @> (SELECT search_grams($1, ${text}, true))`;

/** Returns the SQL condition that a contact's search text has all grams of one of several patterns. */
const hasGramsOfOneOf = (patterns: number) =>
  parametersFrom(FIRST_PATTERN + patterns, patterns)
    .map((text) => `(${expectFewRows(hasGramsOf(text))})`)
    .join(' OR ');

/**
 * Returns SQL that selects a page of a search from the newest contacts. If they do not fill it, the page
 * comes from one step through the list if enough of the newest contacts match, else from the index.
 */
const find = (patterns: number, matches = matchesOneOf(patterns)) => `
  WITH newest AS MATERIALIZED (
    ${below(matches, NEWEST)} ORDER BY id DESC LIMIT $3
  ), step AS MATERIALIZED (
    ${below(matches, STEP)}
      AND (SELECT count(*) FROM newest) < $3
      AND (SELECT count(*) FROM newest) * ${STEP / NEWEST} >= $3
    ORDER BY id DESC LIMIT $3
  ), indexed AS MATERIALIZED (
    SELECT * FROM contacts
    WHERE tenant_id = $1 AND (${hasGramsOfOneOf(patterns)}) AND (SELECT count(*) FROM newest) < $3 AND (SELECT count(*) FROM step) < $3
    LIMIT ${MAX_INDEXED + 1}
  )
  SELECT ${CONTACT_COLUMNS}, (SELECT count(*) FROM indexed)::integer AS indexed
  FROM (VALUES (1)) AS one LEFT JOIN (
    SELECT * FROM newest WHERE (SELECT count(*) FROM newest) = $3
    UNION ALL SELECT * FROM step WHERE (SELECT count(*) FROM step) = $3
    UNION ALL SELECT * FROM indexed WHERE id < $2 AND ${matches}
    ORDER BY id DESC LIMIT $3
  ) AS found ON true ORDER BY id DESC`;

const step = (matches: string) => `
  WITH matching AS MATERIALIZED (
    ${below(matches, STEP)} ORDER BY id DESC LIMIT $3
  ), next AS (
    SELECT id FROM contacts WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC OFFSET (SELECT ${STEP - 1}) LIMIT 1
  )
  SELECT ${CONTACT_COLUMNS}, CASE WHEN (SELECT count(*) FROM matching) < $3 THEN (SELECT id FROM next) END AS next
  FROM (VALUES (1)) AS one LEFT JOIN matching ON true ORDER BY id DESC`;
