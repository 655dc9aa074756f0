import { AppError } from '../../common/app-error';
import { HookRequest } from './channel-adapter';

/**
 * Returns the items of a provider's request if there are at most `max`.
 *
 * @throws AppError PAYLOAD_TOO_LARGE
 */
export function requireAtMost<Item>(max: number, items: Item[]): Item[] {
  if (items.length <= max) return items;
  throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${max} events.`);
}

/** Removes a byte order mark, and replaces bytes that are not UTF-8 by U+FFFD. */
const lenient = new TextDecoder();

/**
 * Parses the body of a provider's request. Replaces invalid UTF-8 instead of refusing the body: the provider
 * would repeat a refused body, and its valid events would never arrive.
 *
 * @throws AppError INVALID_BODY
 */
export function parseJson({ rawBody }: HookRequest): unknown {
  try {
    return JSON.parse(lenient.decode(rawBody)) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
