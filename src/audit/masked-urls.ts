import { createHash } from 'node:crypto';

/** Pattern of a first path segment that may be shown, because most tokens contain digits and do not match. */
const WORD = /^[a-z._-]{0,16}$/i;
const DIGITS = 8;

/**
 * Shortens each URL in the values of an audit entry, at any depth and within texts, because a person who
 * knows an endpoint's URL can often write to it. `https://hooks.example.com/services/T1/B2/key` becomes
 * `hooks.example.com/services/…` and eight hex digits of the URL's SHA-256, which distinguish it from others.
 * A URL without path, query and fragment does not change.
 */
export function maskUrls<T>(value: T): T {
  return mask(value) as T;
}

/**
 * Removes the parts of a URL that may be tokens: query, fragment, and the path after a first segment that is
 * a word. `https://hooks.example.com/in/o1kx?key=1` becomes `https://hooks.example.com/in/…?…`.
 */
export function maskSecrets(url: string): string {
  const { origin, pathname, search, hash } = new URL(url);
  const segment = firstWord(pathname);
  const path = pathname === `/${segment}` ? pathname : segment ? `/${segment}/…` : '/…';
  return `${origin}${path}${search && '?…'}${hash && '#…'}`;
}

function mask(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mask(one)]));
}

/** Returns the first segment of a path; empty if it may be a token. */
function firstWord(pathname: string): string {
  const [segment = ''] = pathname.split('/').slice(1);
  return WORD.test(segment) ? segment : '';
}

function maskText(text: string): string {
  return text.replace(/https?:\/\/[^\s"'<>]+/gi, maskUrl);
}

function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { origin, host, href, pathname } = new URL(text);
  if (href === `${origin}/`) return text;
  const segment = firstWord(pathname);
  const begin = segment ? `${host}/${segment}` : host;
  return `${begin}/…${createHash('sha256').update(text).digest('hex').slice(0, DIGITS)}`;
}
