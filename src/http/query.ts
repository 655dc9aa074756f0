import { parse } from 'node:querystring';
import { AppError } from '../common/app-error';

/** Percent-encoded bytes in a row. Any other `%` is literal. */
const ENCODED = /(?:%[0-9a-f]{2})+/gi;

/**
 * Parses a query string in UTF-8. Bytes of another encoding are refused, because they would silently become
 * other characters.
 * @throws AppError INVALID_QUERY
 */
export function parseQuery(query: string | null): object {
  try {
    for (const bytes of query?.match(ENCODED) ?? []) decodeURIComponent(bytes);
  } catch {
    throw new AppError('INVALID_QUERY', 'The query is not UTF-8.');
  }
  return parse(query ?? '');
}
