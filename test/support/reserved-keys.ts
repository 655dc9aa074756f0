/** Keys that JavaScript gives a meaning. */
export const RESERVED_KEYS = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'];

/** Value of `constructor` that class-transformer 0.5.1 takes for a class, and would keep for ever. */
export const FALSE_CLASS = { prototype: { constructor: {} } };

const VALUES = [1, FALSE_CLASS];

/** Returns copies of a JSON object, each of which has one reserved key in one place, at every depth. */
export function withReservedKeys(body: object): object[] {
  return RESERVED_KEYS.flatMap((key) =>
    VALUES.flatMap((value) => placesIn(body).map((put) => put({ [key]: value }))),
  );
}

/** Returns functions that add an object's keys to a value, or to one within it, or stand in for one. */
function placesIn(value: unknown): ((added: object) => object)[] {
  if (typeof value !== 'object' || value === null) return [(added) => added];
  if (Array.isArray(value)) return [(added) => [added], (added) => ({ 0: value as unknown, ...added })];
  const fields = value as Record<string, unknown>;
  const deeper = Object.entries(fields).flatMap(([name, inner]) =>
    placesIn(inner).map((put) => (added: object) => ({ ...fields, [name]: put(added) })),
  );
  return [(added) => ({ ...fields, ...added }), ...deeper];
}

interface Storage {
  _ancestorsMap: Map<unknown, unknown>;
}

/** Counts the objects that class-transformer has taken for classes, and keeps for ever. */
export function countFalseClasses(): number {
  const { defaultMetadataStorage } = jest.requireActual<{ defaultMetadataStorage: Storage }>(
    'class-transformer/cjs/storage',
  );
  return [...defaultMetadataStorage._ancestorsMap.keys()].filter((key) => typeof key !== 'function').length;
}
