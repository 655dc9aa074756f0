import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { countCharacters } from '../common/validators';

export interface ChangedValues {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** Returns both values of the named fields that differ; null if none differs. Never name a secret field. */
export function changedValues<T extends object>(
  before: T,
  after: T,
  fields: readonly (keyof T & string)[],
): ChangedValues | null {
  const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  if (changed.length === 0) return null;
  return { before: valuesOf(before, changed), after: valuesOf(after, changed) };
}

/** Returns the values of the named fields, for the audit entry of a creation or deletion. */
export function valuesOf<T extends object>(
  thing: T,
  fields: readonly (keyof T & string)[],
): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, thing[field]]));
}

/** Length and hash of a text. An audit entry has them instead of the text, because it is kept for ever. */
export interface TextDescription {
  characters: number;
  sha256: string;
}

/** Describes a text for an audit entry, so that it can be compared with another text. */
export function describeText(text: string): TextDescription {
  return { characters: countCharacters(text), sha256: createHash('sha256').update(text).digest('hex') };
}
