import { escapeLiteral } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import type { Node, Range } from './node-map';
import { replaceValues } from './present-time';

/** A search of one node. */
export interface Search {
  sql: string;
  parameters: unknown[];
  /**
   * Number of the first parameters that are lists with an element for each workspace, or for each part of
   * one. The first list has the ids of the workspaces.
   */
  lists: number;
}

/** Returns the workspaces in the lists of searches. */
export function workspacesOf(searches: Search[]): string[] {
  return searches.flatMap(({ lists, parameters }) => (lists > 0 ? (parameters[0] as string[]) : []));
}

/**
 * Returns the statement that answers searches on one node, as a list of lists of rows.
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

/** Returns the parameters of a search for the workspaces of a range; null if its lists have none of them. */
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

/** Returns a statement that reads the shards of one range of workspaces in place of the tables. */
function ofShards(statement: string, { names }: Range): string {
  const tables = Object.entries(names)
    .filter(([table]) => new RegExp(`\\b${table}\\b`).test(statement))
    .map(([table, shard]) => `${table} AS NOT MATERIALIZED (SELECT * FROM ${shard})`);
  return `(WITH ${tables.join(', ')} SELECT * FROM (${statement}) AS step)`;
}

/** Returns a statement with its values in it, but for the present time: this is a parameter of the search. */
function withValues(sql: string, parameters: unknown[]): string {
  const valueOf = (number: number) => {
    const value = prepareValue(parameters[number - 1]) as string | null;
    return value === null ? 'NULL' : escapeLiteral(value);
  };
  return replaceValues(sql, valueOf, '$1');
}
