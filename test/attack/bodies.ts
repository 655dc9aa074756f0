import { createHmac } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { ORIGIN } from '../support/widget';
import { Attack, Attacker, FloodRequest } from './attacker';

const JSON_BODY = { 'content-type': 'application/json' };
const MiB = 1024 * 1024;
/** Bytes that are compressed before they are sent: a hundred times as many as a body may have. */
const BOMB = Buffer.alloc(25 * MiB, 0x20);

export interface OddBody {
  name: string;
  headers: Record<string, string>;
  body: string | Buffer;
}

function deep(depth: number): OddBody[] {
  return [
    { name: 'deep arrays', headers: JSON_BODY, body: '['.repeat(depth) + ']'.repeat(depth) },
    {
      name: 'deep objects',
      headers: JSON_BODY,
      body: `${'{"a":'.repeat(depth / 2)}1${'}'.repeat(depth / 2)}`,
    },
    { name: 'a deep field', headers: JSON_BODY, body: `{"body":${'['.repeat(depth)}${']'.repeat(depth)}}` },
    { name: 'never closed', headers: JSON_BODY, body: '{"a":'.repeat(depth / 2) },
  ];
}

function wide(): OddBody[] {
  const keys = Array.from({ length: 15_000 }, (_, n) => `"k${n}":0`).join(',');
  return [
    { name: 'many keys', headers: JSON_BODY, body: `{${keys}}` },
    { name: 'many elements', headers: JSON_BODY, body: `[${'0,'.repeat(120_000)}0]` },
    { name: 'one key many times', headers: JSON_BODY, body: `{${'"body":"x",'.repeat(20_000)}"body":"x"}` },
    { name: 'a huge number', headers: JSON_BODY, body: `{"body":${'9'.repeat(200_000)}}` },
    { name: 'a long key', headers: JSON_BODY, body: `{"${'k'.repeat(200_000)}":1}` },
    { name: 'a large string', headers: JSON_BODY, body: `{"body":"${'x'.repeat(250_000)}"}` },
    { name: 'too large', headers: JSON_BODY, body: `{"body":"${'x'.repeat(300_000)}"}` },
    {
      name: 'a prototype',
      headers: JSON_BODY,
      body: '{"__proto__":{"body":"x"},"constructor":{"prototype":{"a":1}}}',
    },
  ];
}

function text(): OddBody[] {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
  const charset = (name: string) => ({ 'content-type': `application/json; charset=${name}` });
  return [
    { name: 'invalid UTF-8', headers: JSON_BODY, body: bytes('{"body":"', [0xff, 0xfe, 0xc0, 0x80], '"}') },
    { name: 'half a character', headers: JSON_BODY, body: bytes('{"body":"', [0xf0, 0x9f, 0x98], '"}') },
    { name: 'an encoded surrogate', headers: JSON_BODY, body: bytes('{"body":"', [0xed, 0xa0, 0x80], '"}') },
    { name: 'a lone surrogate', headers: JSON_BODY, body: '{"body":"\\ud800"}' },
    { name: 'a NUL', headers: JSON_BODY, body: '{"body":"\\u0000"}' },
    { name: 'a byte order mark', headers: JSON_BODY, body: '\ufeff{"body":"x"}' },
    { name: 'UTF-16', headers: charset('utf-16'), body: Buffer.from('{"body":"x"}', 'utf16le') },
    { name: 'an unknown charset', headers: charset('utf-7'), body: '{"body":"x"}' },
    { name: 'no JSON', headers: { 'content-type': 'text/plain' }, body: '{"body":"x"}' },
    { name: 'a form', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'body=x' },
    { name: 'a broken type', headers: { 'content-type': 'application/json;;=' }, body: '{"body":"x"}' },
  ];
}

function compressed(): OddBody[] {
  const packed = (coding: string, body: Buffer) => ({
    headers: { ...JSON_BODY, 'content-encoding': coding },
    body,
  });
  const whole = gzipSync('{"body":""}');
  return [
    { name: 'a gzip bomb', ...packed('gzip', gzipSync(BOMB)) },
    { name: 'a deflate bomb', ...packed('deflate', deflateSync(BOMB)) },
    { name: 'a Brotli bomb', ...packed('br', brotliCompressSync(BOMB)) },
    { name: 'gzip within gzip', ...packed('gzip, gzip', gzipSync(whole)) },
    { name: 'half of a gzip', ...packed('gzip', whole.subarray(0, 15)) },
    { name: 'no gzip', ...packed('gzip', Buffer.from('{"body":"x"}')) },
    { name: 'an unknown coding', ...packed('zstd-of-tomorrow', Buffer.from('{"body":"x"}')) },
  ];
}

type Routes = ((odd: OddBody) => FloodRequest)[];

/** Returns the API's kinds of routes that read a body. */
function routesOf({ foothold }: Attacker): Routes {
  const { conversationId, keys, widgetPath, hookPath, appSecret } = foothold;
  const authorization = `Bearer ${keys[0]!.key}`;
  return [
    ({ headers, body }) => ({
      method: 'POST',
      path: `/api/v1/conversations/${conversationId}/messages`,
      headers: { ...headers, authorization },
      body,
    }),
    ({ headers, body }) => ({
      method: 'PATCH',
      path: `/api/v1/conversations/${conversationId}`,
      headers: { ...headers, authorization },
      body,
    }),
    ({ headers, body }) => ({
      method: 'POST',
      path: `${widgetPath}/sessions`,
      headers: { ...headers, origin: ORIGIN },
      body,
    }),
    ({ headers, body }) => ({
      method: 'POST',
      path: hookPath,
      headers: { ...headers, 'x-hub-signature-256': signatureOf(body, appSecret) },
      body,
    }),
  ];
}

/** Sends one body after another to each route. */
async function sendAll(
  attacker: Attacker<unknown>,
  bodies: readonly OddBody[],
  routes: Routes,
): Promise<void> {
  await attacker.flood(
    (n) => {
      const odd = bodies[Math.floor(n / routes.length) % bodies.length]!;
      return routes[n % routes.length]!(odd);
    },
    { perSecond: 60, atOnce: 8 },
  );
}

export function signatureOf(body: string | Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Makes the attacks with odd bodies. */
export function bodyAttacks<Means>(routesFor: (attacker: Attacker<Means>) => Routes): Attack<Means>[] {
  const kinds = { deep, wide, 'bad text': text, compressed };
  return Object.entries(kinds).map(([name, bodiesOf]) => ({
    name: `bodies: ${name}`,
    run: (attacker) => sendAll(attacker, bodiesOf(attacker.sizes.bodyDepth), routesFor(attacker)),
  }));
}

export const BODIES = bodyAttacks(routesOf);
