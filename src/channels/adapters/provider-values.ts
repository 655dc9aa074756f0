import { isStorableText } from '../../common/validators';

/** Maximum number of characters of a provider's id. Known ids are shorter; an index can store this many. */
const MAX_ID_LENGTH = 512;

export const REPLACEMENT = '\uFFFD';

export type ProviderObject = Record<string, unknown>;

export function objectOf(value: unknown): ProviderObject {
  return isObject(value) ? value : {};
}

export function objectsOf(value: unknown): ProviderObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a non-empty string, or a number as a string, because providers send ids and codes as either. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

export function isFilledObject(value: unknown): value is ProviderObject {
  return Object.keys(objectOf(value)).length > 0;
}

/** Joins the non-empty strings and the numbers among the values; null if there are none. */
export function joinTexts(values: unknown[], separator: string): string | null {
  const texts = values.map(textOf).filter((text) => text !== null);
  return texts.length > 0 ? texts.join(separator) : null;
}

/** Returns a number, or a numeric string as a number; null for any other value. */
export function numberOf(value: unknown): number | null {
  const text = textOf(value);
  const number = text === null ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Looks up an own key. Ignores inherited keys, such as `constructor`, because providers choose the key. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

export function isUsableId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_LENGTH && isStorableText(id);
}

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store in text. */
export function storableText(text: string): string {
  return text.replaceAll('\0', REPLACEMENT).toWellFormed();
}

/** Formats coordinates, such as `39.46, -0.37`; null if one of them is missing. */
export function coordinates(latitude: unknown, longitude: unknown): string | null {
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  return north === null || east === null ? null : `${north}, ${east}`;
}

/** Returns the body for a message without text, such as `[image] Our new shop`. */
export function placeholder(kind: string, detail: string | null): string {
  return detail === null ? `[${kind}]` : `[${kind}] ${detail}`;
}

function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
