import { isStorableText } from '../../../common/validators';

/** Longer than any provider's id, and short enough for an index. */
const MAX_ID_LENGTH = 512;

/** A provider's JSON can hold anything. These functions never throw. */
export type ProviderObject = Record<string, unknown>;

export function objectOf(value: unknown): ProviderObject {
  return isObject(value) ? value : {};
}

export function objectsOf(value: unknown): ProviderObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Non-empty text, or a number as text: providers send ids and codes as either. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A number, or text that is one. */
export function numberOf(value: unknown): number | null {
  const text = textOf(value);
  const number = text === null ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Looks up a provider's key, which may be one that every object inherits, such as `constructor`. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Whether an id from a provider can be stored and looked up. */
export function isUsableId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_LENGTH && isStorableText(id);
}

/** The body of a message that has no text, such as `[image] Our new shop`. */
export function described(kind: string, detail: string | null): string {
  return detail === null ? `[${kind}]` : `[${kind}] ${detail}`;
}

function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
