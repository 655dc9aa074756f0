import { FormatRegistry } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { AppError } from '../../common/app-error';
import { isStorableText } from '../../common/validators';
import { eventCatalog, EventType } from '../../outbox/event-catalog';

/** Largest number of characters in the JSON text of an edited example. */
const MAX_LENGTH = 32 * 1024;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ID_KEY = /(^id|Id)$/;

FormatRegistry.Set(
  'date-time',
  (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
);

/**
 * Refuses data that is no example of an event type. An example fits the type's schema. It contains only ids
 * of the catalog's example, so that no receiver takes an id for that of an existing thing.
 * @throws AppError INVALID_BODY
 */
export function checkExample(type: EventType, data: object): void {
  if (JSON.stringify(data).length > MAX_LENGTH)
    throw AppError.invalidBody('data', 'too_long', { max: MAX_LENGTH });
  const entries = listEntries(data);
  if (
    !entries.every(
      ([key, value]) => isStorableText(key) && (typeof value !== 'string' || isStorableText(value)),
    )
  )
    throw AppError.invalidBody('data', 'not_storable');
  const fault = Value.Errors(eventCatalog[type].data, data).First();
  if (fault) throw AppError.invalidBody('data', 'not_of_schema', { event: type, path: fault.path || '/' });
  const ids = new Set(
    listEntries(eventCatalog[type].example)
      .filter(isId)
      .map(([, value]) => value),
  );
  const foreign = entries.find((entry) => isId(entry) && !ids.has(entry[1]));
  if (foreign)
    throw AppError.invalidBody('data', 'foreign_id', { key: foreign[0], ids: [...ids].map(String) });
}

function listEntries(value: object): [key: string, value: unknown][] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => [
    [key, inner] as [string, unknown],
    ...(typeof inner === 'object' && inner !== null ? listEntries(inner) : []),
  ]);
}

/** Reports whether an entry contains an id. The value null is no id. */
function isId([key, value]: [key: string, value: unknown]): boolean {
  if (typeof value === 'string' && UUID.test(value)) return true;
  return ID_KEY.test(key) && value !== null && typeof value !== 'object';
}
