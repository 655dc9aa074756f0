import { AppError } from '../../common/app-error';
import { HookRequest } from './channel-adapter';

/**
 * Returns a request's items if there are at most `max`, the number that the provider documents.
 * @throws AppError PAYLOAD_TOO_LARGE
 */
export function requireAtMost<Item>(max: number, items: Item[]): Item[] {
  if (items.length <= max) return items;
  throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${max} events.`);
}

/** Decodes UTF-8 without its byte order mark, and has U+FFFD for bytes that are not UTF-8. */
const lenient = new TextDecoder();

/**
 * Parses the body of a provider's request. Bytes that are not UTF-8 cost their characters alone: a provider
 * would send a refused body again and again, and its other events with it.
 * @throws AppError INVALID_BODY
 */
export function parseJson({ rawBody }: HookRequest): unknown {
  try {
    return JSON.parse(lenient.decode(rawBody)) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
