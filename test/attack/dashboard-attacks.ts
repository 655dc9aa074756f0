import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Attack, Attacker, FloodRequest } from './attacker';
import { bodyAttacks } from './bodies';
import { connectionAttacks } from './connections';
import { DashboardFoothold } from './dashboard-target';
import { addressOf } from './hooks';
import { pipelineBehind, waitForLookups } from './protocol';

type DashboardAttacker = Attacker<DashboardFoothold>;

/** Headers of the dashboard's own page. */
const OWN_PAGE = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
/** Number of exports that each person begins: as many as a minute allows. */
const EXPORTS = 5;
const LOOPS = 5;

/** Returns the n-th of the attacker's people, each time of the other workspace. */
function personOf({ foothold }: DashboardAttacker, n: number) {
  const { workspaces } = foothold;
  const workspace = workspaces[n % workspaces.length]!;
  const { cookies, id, endpointId } = workspace;
  const cookie = cookies[Math.floor(n / workspaces.length) % cookies.length]!;
  return { endpointId, cookie, below: `/api/workspaces/${id}` };
}

/** Begins exports of both workspaces' audit logs, and reads none. */
async function unreadExports(attacker: DashboardAttacker): Promise<void> {
  const { workspaces } = attacker.foothold;
  const people = workspaces.flatMap(({ cookies }) => cookies).length;
  const connections = await attacker.open(people * EXPORTS);
  connections.forEach((connection, n) => {
    const { cookie, below } = personOf(attacker, n);
    connection.stopReading();
    connection.send(
      `GET ${below}/audit-entries/export HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`,
    );
  });
  await attacker.wait();
}

/** Has names looked up whose name server never answers. */
async function silentNameServers(attacker: DashboardAttacker): Promise<void> {
  const { silentNames } = attacker.foothold;
  await attacker.flood((n) => {
    const { cookie, below } = personOf(attacker, n);
    const body = JSON.stringify({ url: `https://${silentNames[n % silentNames.length]}/` });
    return post(`${below}/webhook-endpoints/check-url`, cookie, body);
  });
}

/** Presses the Test button of endpoints whose receiver never answers. */
async function silentReceivers(attacker: DashboardAttacker): Promise<void> {
  await attacker.flood(
    (n) => {
      const { cookie, below, endpointId } = personOf(attacker, n);
      return post(`${below}/webhook-endpoints/${endpointId}/test`, cookie, '{}');
    },
    { perSecond: 50 },
  );
}

/** Makes API keys without pause, in five loops. */
async function keysWithoutEnd(attacker: DashboardAttacker): Promise<void> {
  const body = JSON.stringify({ name: 'CRM', scopes: ['contacts:read'] });
  const loop = (n: number) =>
    attacker.repeat(async () => {
      const { cookie, below } = personOf(attacker, n);
      const answer = await attacker.askOnce(post(`${below}/api-keys`, cookie, body));
      if (answer?.status !== 201) await sleep(10);
    });
  await Promise.all(Array.from({ length: LOOPS }, (_, n) => loop(n)));
}

/** Guesses passwords from many addresses, each of which is hashed. */
async function guessedPasswords(attacker: DashboardAttacker): Promise<void> {
  await attacker.flood((n) => ({
    method: 'POST',
    path: '/api/login',
    headers: { ...OWN_PAGE, 'x-forwarded-for': addressOf(n) },
    body: JSON.stringify({ email: `person-${n}@example.com`, password: 'a wrong password' }),
  }));
}

function forgedSession(): string {
  const cookie = `session=${randomBytes(32).toString('base64url')}`;
  return `GET /api/session HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`;
}

function post(path: string, cookie: string, body: string | Buffer, headers = {}): FloodRequest {
  return { method: 'POST', path, headers: { ...OWN_PAGE, cookie, ...headers }, body };
}

export const DASHBOARD_ATTACKS: Attack<DashboardFoothold>[] = [
  ...connectionAttacks<DashboardFoothold>(({ foothold }) => ({
    get: '/api/session',
    post: { path: '/api/login', bytes: 8_000 },
    large: { path: `/api/workspaces/${foothold.workspaces[0]!.id}/api-keys`, bytes: 256 * 1024 },
    page: '/login',
  })),
  ...bodyAttacks<DashboardFoothold>((attacker) => [
    ({ headers, body }) => ({
      method: 'POST',
      path: '/api/login',
      headers: { 'sec-fetch-site': 'same-origin', ...headers },
      body,
    }),
    ({ headers, body }) => {
      const { cookie, below } = personOf(attacker, 0);
      return post(`${below}/api-keys`, cookie, body, headers);
    },
  ]),
  { name: 'people: unread exports', run: unreadExports },
  { name: 'people: silent name servers', run: silentNameServers },
  { name: 'people: silent receivers', run: silentReceivers },
  { name: 'people: keys without end', run: keysWithoutEnd },
  { name: 'strangers: guessed passwords', run: guessedPasswords },
  {
    name: 'strangers: pipelined behind forged sessions',
    run: (attacker) => pipelineBehind(attacker, waitForLookups(forgedSession)),
  },
];
