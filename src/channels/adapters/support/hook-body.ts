import { AppError } from '../../../common/app-error';
import { HookRequest } from '../channel-adapter';

/**
 * Returns a request's items if there are at most `max`, the number that the provider documents.
 * @throws AppError PAYLOAD_TOO_LARGE
 */
export function requireAtMost<Item>(max: number, items: Item[]): Item[] {
  if (items.length <= max) return items;
  throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${max} events.`);
}

/**
 * Parses the body of a provider's request.
 * @throws AppError INVALID_BODY
 */
export function parseJson({ rawBody }: HookRequest): unknown {
  try {
    return JSON.parse(rawBody.toString()) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
