import { escapeLiteral } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import type { Node, Range } from './node-map';
import { replaceValues } from './present-time';

export interface Search {
  sql: string;
  parameters: unknown[];
  /**
   * Number of leading parameters that are lists of equal length. The first list holds workspace ids, each
   * other list a value for each of these ids.
   */
  lists: number;
}

export function workspacesOf(searches: Search[]): string[] {
  return searches.flatMap(({ lists, parameters }) => (lists > 0 ? (parameters[0] as string[]) : []));
}

/**
 * Returns one statement that runs all searches on the shards of a node. Its result is a JSON list, with the
 * list of rows of each search.
 * @param hashes of the workspaces in the lists of the searches
 */
export function requestTo({ ranges }: Node, searches: Search[], hashes: Map<string, number>): string {
  const lists = searches.map((search) => {
    const parts = ranges.flatMap((range) => {
      const parameters = inRange(search, range, hashes);
      return parameters ? [ofShards(withValues(search.sql, parameters), range)] : [];
    });
    if (parts.length === 0) return `'[]'::json`;
    return `(SELECT coalesce(json_agg(found), '[]') FROM (${parts.join(' UNION ALL ')}) AS found)`;
  });
  return ['SELECT json_build_array(', lists.join(', '), ')'].join('');
}

/**
 * Returns a search's parameters with only the list elements of workspaces in a range; null if there are none.
 */
function inRange(
  { parameters, lists }: Search,
  { least, most }: Range,
  hashes: Map<string, number>,
): unknown[] | null {
  if (lists === 0) return parameters;
  const isThere = (parameters[0] as string[]).map((id) => {
    const hash = hashes.get(id)!;
    return least <= hash && hash <= most;
  });
  if (!isThere.includes(true)) return null;
  return parameters.map((value, n) =>
    n < lists ? (value as unknown[]).filter((_, row) => isThere[row]) : value,
  );
}

/** Replaces the tables of a statement by the shards of one range of workspaces. */
function ofShards(statement: string, { names }: Range): string {
  const tables = Object.entries(names)
    .filter(([table]) => new RegExp(`\\b${table}\\b`).test(statement))
    .map(([table, shard]) => `${table} AS NOT MATERIALIZED (SELECT * FROM ${shard})`);
  return `(WITH ${tables.join(', ')} SELECT * FROM (${statement}) AS step)`;
}

/** Writes the values into a statement as literals, and `$1`, the coordinator's time, for `now()`. */
function withValues(sql: string, parameters: unknown[]): string {
  const valueOf = (number: number) => {
    const value = prepareValue(parameters[number - 1]) as string | null;
    return value === null ? 'NULL' : escapeLiteral(value);
  };
  return replaceValues(sql, valueOf, '$1');
}
