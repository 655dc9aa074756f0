import { generateApiKey } from '../../src/auth/api-key-token';
import { Attack, Attacker } from './attacker';
import { addressOf } from './hooks';

/**
 * Number of calls of each key a second: together 100 times the 240 requests a minute that a workspace has.
 */
const HUNDREDFOLD = 400;

/** Sends forged keys from one address. They are well formed, so that only the database can refuse them. */
async function forgedKeysFromOneAddress(attacker: Attacker): Promise<void> {
  await attacker.flood(() => ({
    method: 'GET',
    path: '/api/v1/me',
    headers: { authorization: `Bearer ${generateApiKey()}`, 'x-forwarded-for': '198.51.100.7' },
  }));
}

async function forgedKeysFromManyAddresses(attacker: Attacker): Promise<void> {
  await attacker.flood((n) => ({
    method: 'GET',
    path: '/api/v1/me',
    headers: { 'x-api-key': generateApiKey(), 'x-forwarded-for': addressOf(n) },
  }));
}

/** Searches for terms of one or two characters among many contacts. */
async function searches(attacker: Attacker): Promise<void> {
  const terms = ['zq', 'xq', 'q7', 'wz'];
  await attacker.flood(
    (n) => ({
      method: 'GET',
      path: `/api/v1/contacts?limit=200&q=${terms[n % terms.length]}`,
      headers: { 'x-api-key': attacker.foothold.raised.key },
    }),
    { perSecond: HUNDREDFOLD / 4 },
  );
}

async function oneWorkspace(attacker: Attacker): Promise<void> {
  const { conversationId } = attacker.foothold;
  const paths = [
    '/me',
    '/conversations?limit=200',
    '/contacts?limit=200',
    `/conversations/${conversationId}/messages`,
  ];
  await attacker.flood(
    (n) => ({ method: 'GET', path: `/api/v1${paths[n % paths.length]}`, headers: keyOf(attacker, n) }),
    { perSecond: HUNDREDFOLD },
  );
}

async function messagesOfOneWorkspace(attacker: Attacker): Promise<void> {
  const { key, conversationId } = attacker.foothold.raised;
  await attacker.flood(
    (n) => ({
      method: 'POST',
      path: `/api/v1/conversations/${conversationId}/messages`,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ body: `Message ${n}` }),
    }),
    { perSecond: HUNDREDFOLD },
  );
}

function keyOf({ foothold }: Attacker, n: number): Record<string, string> {
  return { 'x-api-key': foothold.keys[n % foothold.keys.length]!.key };
}

export const CALLERS: Attack[] = [
  { name: 'callers: forged keys, one address', run: forgedKeysFromOneAddress },
  { name: 'callers: forged keys, many addresses', run: forgedKeysFromManyAddresses },
  { name: 'callers: searches that no index serves', run: searches },
  { name: 'callers: one workspace, 100 times its rate', run: oneWorkspace },
  { name: 'callers: messages of a workspace with a raised rate', run: messagesOfOneWorkspace },
];
