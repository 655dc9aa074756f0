/** What came from a provider is read as if it could be anything: nothing here throws. */
export type ProviderObject = Record<string, unknown>;

/** An object; an empty one for anything else. */
export function objectOf(value: unknown): ProviderObject {
  return isObject(value) ? value : {};
}

/** The objects of a list; none for anything else. */
export function objectsOf(value: unknown): ProviderObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Text that says something, or a number as text: providers change their minds about ids and codes. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A number, also when it is written as text. */
export function numberOf(value: unknown): number | null {
  const text = textOf(value);
  const number = text === null ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** What a table of ours says under a key of theirs: nothing under `constructor` and the like, which every object has. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
