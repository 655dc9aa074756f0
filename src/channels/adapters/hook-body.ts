import { AppError } from '../../common/app-error';
import { HookRequest } from './channel-adapter';

export function requireAtMost<Item>(max: number, items: Item[]): Item[] {
  if (items.length <= max) return items;
  throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${max} events.`);
}

const lenient = new TextDecoder();

/**
 * Parses the body of a provider's request. Replaces invalid UTF-8 by U+FFFD, because the provider would
 * repeat a refused body for ever, and the valid events in it would never be stored.
 * @throws AppError INVALID_BODY
 */
export function parseJson({ rawBody }: HookRequest): unknown {
  try {
    return JSON.parse(lenient.decode(rawBody)) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
