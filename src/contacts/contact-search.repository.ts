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

/** Number of newest contacts that a search reads first, because they fill a page if the term is frequent. */
const NEWEST = 200;
/** Maximum contacts that one statement reads in the order of the list: newest first, without the index. */
const STEP = 10_000;
/** Maximum contacts that one statement reads from the search index. */
const MAX_INDEXED = 5_000;

/** Milliseconds after which a search of several statements fails. */
const MAX_SEARCH_MS = 5_000;
/** Milliseconds after which a statement fails. A statement takes 150 ms if PostgreSQL has cached nothing. */
const STATEMENT_TIMEOUT_MS = 1_500;

/** Row of a search's first statement. If no contact is found, it returns one row with only `indexed`. */
interface Found extends ListedContact {
  /** Number of contacts that the statement read from the index, at most MAX_INDEXED + 1. */
  indexed: number;
}

interface Step extends ListedContact {
  /** Id below which the search's next statement continues; null if no other statement is needed. */
  next: string | null;
}

const hasContact = ({ id }: { id: string | null }) => id !== null;

interface Search {
  tenantId: string;
  patterns: SearchPattern[];
  cursor: string;
  count: number;
  caller: Closable | undefined;
}

/**
 * Finds contacts by a part of their name, e-mail address or phone number. However frequent the term is, each
 * statement reads a bounded number of the workspace's rows. Between its statements a search occupies no
 * database connection, so that other searches can run.
 */
@Injectable()
export class ContactSearchRepository {
  constructor(
    private readonly database: Database,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Finds up to `count` contacts with ids below the cursor, newest first.
   * @param caller the search ends when this response is closed
   * @throws AppError UNAVAILABLE (the search takes too long, or the process runs too many searches),
   *   RATE_LIMITED (the workspace runs too many searches)
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
   * Searches with one statement, which can use the search index. Returns null if the index cannot find the
   * patterns, or finds more than MAX_INDEXED contacts.
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

  /** Searches the workspace's contacts without the index, newest first, STEP contacts at a time. */
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
   * Runs one statement of a search without the index. For each workspace only one such statement runs at a
   * time, so that these searches together use one database connection.
   */
  private async inTurn<T>({ tenantId, caller }: Search, step: () => Promise<T>): Promise<T> {
    const release = await this.budgets.acquire('walks', tenantId, caller);
    return step().finally(release);
  }

  /** Runs a statement when few enough searches run. Throws if the caller's response is closed. */
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

/** Number of the SQL parameter that contains the first pattern, as in `$4`. */
const FIRST_PATTERN = 4;

function parametersFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `$${first + index}`);
}

function tooLong(): AppError {
  return AppError.because('UNAVAILABLE', 'search_too_long');
}

/**
 * Returns the SQL condition that a search text matches one of several patterns. Each pattern is in a
 * sub-select, because PostgreSQL evaluates this once, and plans the statement once for all values.
 */
const matchesOneOf = (patterns: number) =>
  `(${parametersFrom(FIRST_PATTERN, patterns)
    .map((like) => `search_text LIKE (SELECT ${like}::text)`)
    .join(' OR ')})`;

/**
 * Returns SQL that reads the next `contacts` contacts of the list, and selects those that match. The inner
 * limit is in a sub-select, so that the planner does not see its value, and reads in order instead of sorting
 * all contacts. The outer limit keeps the estimated cost low, because PostgreSQL would compile a statement
 * with a high one (`jit`).
 */
const below = (matches: string, contacts: number) => `
  SELECT * FROM (
    SELECT * FROM (
      SELECT * FROM contacts WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT (SELECT ${contacts})
    ) AS walked ORDER BY id DESC LIMIT ${contacts}
  ) AS walked WHERE ${matches}`;

const hasGramsOf = (text: string) =>
  `search_grams(tenant_id, search_text, false) @> (SELECT search_grams($1, ${text}, true))`;

/** Returns the SQL condition that a search text has all substrings (grams) of one of several patterns. */
const hasGramsOfOneOf = (patterns: number) =>
  parametersFrom(FIRST_PATTERN + patterns, patterns)
    .map((text) => `(${expectFewRows(hasGramsOf(text))})`)
    .join(' OR ');

/**
 * Returns SQL that selects a page of a search from the newest contacts. If they do not fill the page, it
 * reads STEP contacts, provided that these will fill it if as many of them match as of the newest. If the
 * page is still not full, it uses the index.
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
