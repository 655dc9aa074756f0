import { createHash } from 'node:crypto';

/** Length of a path's segment above which it may be a token, so that it is left out. */
const MAX_SEGMENT = 16;
const DIGITS = 8;

/**
 * Shortens each URL in the values of an audit entry, at any depth and within texts, because who knows an
 * endpoint's URL can often write to it. Of `https://hooks.example.com/services/T1/B2/key` it leaves
 * `hooks.example.com/services/…` and eight hex digits of the whole URL's SHA-256, which tell two URLs apart.
 * A URL without path, query and fragment stays as it is.
 */
export function maskUrls<T>(value: T): T {
  return mask(value) as T;
}

/**
 * Leaves out of a URL what may be a token: the query, the fragment, and each long segment of the path. Of
 * `https://hooks.example.com/in/9f86d081884c7d659a2f?key=1` it leaves `https://hooks.example.com/in/…?…`.
 */
export function maskSecrets(url: string): string {
  const { origin, pathname, search, hash } = new URL(url);
  const segments = pathname.split('/').map((segment) => (segment.length > MAX_SEGMENT ? '…' : segment));
  return `${origin}${segments.join('/')}${search && '?…'}${hash && '#…'}`;
}

function mask(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mask(one)]));
}

function maskText(text: string): string {
  return text.replace(/https?:\/\/[^\s"'<>]+/gi, maskUrl);
}

function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { origin, host, href, pathname } = new URL(text);
  if (href === `${origin}/`) return text;
  const [segment = ''] = pathname.split('/').slice(1);
  const begin = segment !== '' && segment.length <= MAX_SEGMENT ? `${host}/${segment}` : host;
  return `${begin}/…${createHash('sha256').update(text).digest('hex').slice(0, DIGITS)}`;
}
