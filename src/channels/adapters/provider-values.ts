import { isStorableText } from '../../common/validators';

/** Limit of a provider's id in characters. No known id is as long, and an index entry can hold it. */
const MAX_ID_LENGTH = 512;

/** Character that replaces unreadable or unstorable characters (U+FFFD). */
export const REPLACEMENT = '\uFFFD';

/** Object of a provider's JSON, whose fields can hold anything. */
export type ProviderObject = Record<string, unknown>;

/** Returns the value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): ProviderObject {
  return isObject(value) ? value : {};
}

/** Returns the objects in a value that is an array, otherwise an empty array. */
export function objectsOf(value: unknown): ProviderObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns non-empty text, or a number as text, otherwise null: providers send ids and codes as either. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Reports whether a value is an object with any fields. */
export function isFilledObject(value: unknown): value is ProviderObject {
  return Object.keys(objectOf(value)).length > 0;
}

/** Returns the texts among values, with a separator between them; null if there is none. */
export function joinTexts(values: unknown[], separator: string): string | null {
  const texts = values.map(textOf).filter((text) => text !== null);
  return texts.length > 0 ? texts.join(separator) : null;
}

/** Returns a number, or text that is one as a number, otherwise null. */
export function numberOf(value: unknown): number | null {
  const text = textOf(value);
  const number = text === null ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Looks up a key in a table. Keys that every object inherits, such as `constructor`, are not found. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Reports whether an id from a provider can be stored and looked up. */
export function isUsableId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_LENGTH && isStorableText(id);
}

/** Replaces NUL and lone surrogates, which PostgreSQL does not store in text. */
export function storableText(text: string): string {
  return text.replaceAll('\0', REPLACEMENT).toWellFormed();
}

/** Returns coordinates as text, such as `39.46, -0.37`, or null if one of them is missing. */
export function coordinates(latitude: unknown, longitude: unknown): string | null {
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  return north === null || east === null ? null : `${north}, ${east}`;
}

/** Returns the body of a message that has no text, such as `[image] Our new shop`. */
export function placeholder(kind: string, detail: string | null): string {
  return detail === null ? `[${kind}]` : `[${kind}] ${detail}`;
}

function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
