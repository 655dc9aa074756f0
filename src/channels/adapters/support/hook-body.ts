import { AppError } from '../../../common/app-error';
import { HookRequest } from '../channel-adapter';

/**
 * Refuses more than a provider's largest request can hold, before each becomes an object of ours.
 * @throws AppError PAYLOAD_TOO_LARGE
 */
export function atMost<Item>(max: number, items: Item[]): Item[] {
  if (items.length <= max) return items;
  throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${max} events.`);
}

/** @throws AppError INVALID_BODY */
export function jsonOf({ rawBody }: HookRequest): unknown {
  try {
    return JSON.parse(rawBody.toString()) as unknown;
  } catch {
    throw new AppError('INVALID_BODY', 'The body cannot be read as JSON.');
  }
}
