import { isListedHost } from '../file-fetcher';
import { ProviderObject } from '../provider-values';

/** Hosts from which Meta hands out files. */
export const META_FILE_HOSTS = ['.fbcdn.net', '.fbsbx.com', '.cdninstagram.com', '.whatsapp.net'];
/** Nesting depth down to which addresses are looked for. Deeper metadata are not stored. */
const MAX_DEPTH = 50;

/** Reports whether a text is the address of a file at Meta, which opens the file for whoever has it. */
export function isFileAddress(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  return isListedHost(META_FILE_HOSTS, new URL(text).hostname);
}

/** Returns a copy of Meta's data without the addresses of files. */
export function withoutFileAddresses<Value extends object>(data: Value): Value {
  return strip(data, 0) as Value;
}

function strip(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.filter(mayStay).map((item) => strip(item, depth + 1));
  const kept = Object.entries(value as ProviderObject).filter(([, item]) => mayStay(item));
  return Object.fromEntries(kept.map(([key, item]) => [key, strip(item, depth + 1)]));
}

function mayStay(value: unknown): boolean {
  return typeof value !== 'string' || !isFileAddress(value);
}
