import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { countCharacters } from '../common/validators';

export interface ChangedValues {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/**
 * Returns the named fields whose values differ, for an audit entry. Name no field that holds a secret.
 * @returns null when none differs
 */
export function changedValues<T extends object>(
  before: T,
  after: T,
  fields: readonly (keyof T & string)[],
): ChangedValues | null {
  const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  if (changed.length === 0) return null;
  return { before: valuesOf(before, changed), after: valuesOf(after, changed) };
}

/** Returns the named fields of a thing, for the audit entry of its creation or deletion. */
export function valuesOf<T extends object>(
  thing: T,
  fields: readonly (keyof T & string)[],
): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, thing[field]]));
}

/** Length and hash of a text: entries are kept for ever, and a text that people wrote is not. */
export interface TextDescription {
  characters: number;
  sha256: string;
}

/** Describes a text for an audit entry, by which another text can be compared with it. */
export function describeText(text: string): TextDescription {
  return { characters: countCharacters(text), sha256: createHash('sha256').update(text).digest('hex') };
}
