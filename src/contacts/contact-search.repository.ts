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

/**
 * Number of the newest contacts, which are always looked at first: a frequent term fills its page from them.
 */
const NEWEST = 200;
/** Limit of the contacts that one statement reads in the order of the list. */
const STEP = 10_000;
/** Limit of the contacts that one statement reads by the index. */
const MAX_INDEXED = 5_000;

/** Milliseconds after which a search of several statements is given up. */
const MAX_SEARCH_MS = 5_000;
/**
 * Limit in milliseconds of one statement, which holds a connection. It takes a tenth of that when nothing is
 * cached.
 */
const STATEMENT_TIMEOUT_MS = 1_500;

/**
 * Row of a search by the index. A statement that finds no contact returns one row without a contact, for the
 * count.
 */
interface Found extends ListedContact {
  /** Number of the contacts that were read by the index. */
  indexed: number;
}

interface Step extends ListedContact {
  /** Id at which the next step begins; null at the end of the list. */
  next: string | null;
}

const hasContact = ({ id }: { id: string | null }) => id !== null;

/** Search of a workspace's contacts for a client that may hang up. */
interface Search {
  tenantId: string;
  patterns: SearchPattern[];
  /** Id below which contacts are searched. */
  cursor: string;
  count: number;
  caller: Closable | undefined;
}

/**
 * Finds contacts by a part of their name, e-mail or phone. Each statement reads a bounded number of rows, all
 * of this workspace, however frequent the term is. It gives its connection and its slot back.
 */
@Injectable()
export class ContactSearchRepository {
  constructor(
    private readonly database: Database,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Finds up to `count` contacts below the cursor, the newest first.
   * @param caller ends the search when it closes
   * @throws AppError UNAVAILABLE when it takes too long; RATE_LIMITED, UNAVAILABLE: too many at once
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
   * Finds contacts by the index; null when the index cannot find the patterns, or has too many contacts with
   * them.
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

  /** Searches the whole list, step by step. */
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
   * Runs a step of a walk. The walks of one workspace run one step at a time, and hold one connection at
   * most.
   */
  private async inTurn<T>({ tenantId, caller }: Search, step: () => Promise<T>): Promise<T> {
    const release = await this.budgets.acquire('walks', tenantId, caller);
    return step().finally(release);
  }

  /** Runs a statement with a slot of its own, unless the caller has hung up. */
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

/** Number of the parameter with the first pattern. */
const FIRST_PATTERN = 4;

function parametersFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `$${first + index}`);
}

function tooLong(): AppError {
  return AppError.because('UNAVAILABLE', 'search_too_long');
}

/**
 * Returns the condition that one of several patterns matches. Sub-selects hide values from the planner, so
 * that a connection plans each statement once, and evaluate them once instead of once a row.
 */
const matchesOneOf = (patterns: number) =>
  `(${parametersFrom(FIRST_PATTERN, patterns)
    .map((like) => `search_text LIKE (SELECT ${like}::text)`)
    .join(' OR ')})`;

/**
 * Selects matching contacts among the next ones of the list. For the planner the hidden limit is a tenth of
 * the rows, so that it reads them in order instead of sorting all. By the other limit it knows the cost: a
 * high one would make PostgreSQL compile the statement (`jit`).
 */
const below = (matches: string, contacts: number) => `
  SELECT * FROM (
    SELECT * FROM (
      SELECT * FROM contacts WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT (SELECT ${contacts})
    ) AS walked ORDER BY id DESC LIMIT ${contacts}
  ) AS walked WHERE ${matches}`;

const hasGramsOf = (text: string) =>
  `search_grams(tenant_id, search_text, false) @> (SELECT search_grams($1, ${text}, true))`;

/** Returns the condition by which the index finds contacts with the grams of one of several patterns. */
const hasGramsOfOneOf = (patterns: number) =>
  parametersFrom(FIRST_PATTERN + patterns, patterns)
    .map((text) => `(${expectFewRows(hasGramsOf(text))})`)
    .join(' OR ');

/**
 * Selects the page of a search. It comes from the newest contacts, from the contacts of one step if so many
 * of the newest match that the step will fill it, or from the index.
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
