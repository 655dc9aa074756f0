import { randomBytes } from 'node:crypto';
import { ORIGIN } from '../support/widget';
import { Attack, Attacker } from './attacker';
import { addressOf } from './hooks';
import { pipelineBehind } from './protocol';

const NETWORK = '2001:db8:7:7';
/**
 * Number of sessions that one address may begin in two minutes: the attack may begin at the end of a window.
 */
const MAX_SESSIONS = 120;
/** Number of addresses that one visitor may give in two minutes. */
const MAX_ADDRESSES = 10;
/** Number of visitors whose streams an attacker opens. */
const VISITORS = 50;

/** Begins sessions from one IPv6 network of 64 bits, which is what a household or a rented server has. */
async function visitorsOfOneNetwork(attacker: Attacker): Promise<void> {
  const begun = attacker.answers.countOf('201');
  await attacker.flood(() => sessionFrom(attacker, `${NETWORK}:${groupsOf(randomBytes(8))}`));
  const sessions = attacker.answers.countOf('201') - begun;
  if (sessions > MAX_SESSIONS) attacker.answers.complain(`One /64 network began ${sessions} sessions`);
}

async function unknownWidgets(attacker: Attacker): Promise<void> {
  const { widgetPath } = attacker.foothold;
  await attacker.flood((n) => ({
    method: 'POST',
    path: `${widgetPath.slice(0, -6)}${String(n).padStart(6, '0')}/sessions`,
    headers: { origin: ORIGIN, 'content-type': 'application/json', 'x-forwarded-for': addressOf(n) },
    body: '{}',
  }));
}

/** Gives one address after the other for the answers to one visitor, each from another network. */
async function mailAddresses(attacker: Attacker): Promise<void> {
  const [token] = await sessionTokens(attacker, 1);
  const call = (path: string, n: number, body: object) => ({
    method: 'POST' as const,
    path: `${attacker.foothold.widgetPath}/${path}`,
    headers: {
      origin: ORIGIN,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-forwarded-for': addressOf(n * 65_536),
    },
    body: JSON.stringify(body),
  });
  await attacker.askOnce(call('messages', 1, { clientMessageId: 'm-1', body: 'Hi' }));
  const taken = attacker.answers.countOf('204');
  await attacker.flood((n) => call('answer-address', n, { email: `victim-${n}@example.com`, locale: 'en' }));
  const addresses = attacker.answers.countOf('204') - taken;
  if (addresses === 0 || addresses > MAX_ADDRESSES)
    attacker.answers.complain(`One visitor gave ${addresses} addresses`);
}

/** Opens streams of several visitors, each from another address. */
async function streams(attacker: Attacker): Promise<void> {
  const tokens = await sessionTokens(attacker);
  const connections = await attacker.open(attacker.sizes.streams);
  connections.forEach((connection, n) =>
    connection.send(
      [
        `GET ${attacker.foothold.widgetPath}/events HTTP/1.1`,
        'Host: x',
        `Origin: ${ORIGIN}`,
        `Authorization: Bearer ${tokens[n % tokens.length]}`,
        `X-Forwarded-For: ${addressOf(n)}`,
        '\r\n',
      ].join('\r\n'),
    ),
  );
  await attacker.wait();
  // The service may keep a stream, so the attacker closes it.
  attacker.letGo();
}

/** Sends requests behind a stream, which never ends. */
async function pipelinedBehindStreams(attacker: Attacker): Promise<void> {
  const [token] = await sessionTokens(attacker, 1);
  const { widgetPath } = attacker.foothold;
  const stream = `GET ${widgetPath}/events HTTP/1.1\r\nHost: x\r\nOrigin: ${ORIGIN}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  await pipelineBehind(attacker, () => stream);
}

export async function sessionTokens(attacker: Attacker, visitors = VISITORS): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < visitors; n++) {
    const answer = await attacker.askOnce(sessionFrom(attacker, addressOf(n * 65_536)));
    if (answer?.status === 201) tokens.push(answer.body.token as string);
  }
  if (tokens.length === 0) throw new Error('No visitor has a session');
  return tokens;
}

function sessionFrom({ foothold }: Attacker, address: string) {
  return {
    method: 'POST' as const,
    path: `${foothold.widgetPath}/sessions`,
    headers: { origin: ORIGIN, 'content-type': 'application/json', 'x-forwarded-for': address },
    body: '{}',
  };
}

function groupsOf(bytes: Buffer): string {
  return bytes.toString('hex').match(/.{4}/g)!.join(':');
}

export const VISITING: Attack[] = [
  { name: 'visitors: of one /64', run: visitorsOfOneNetwork },
  { name: 'visitors: unknown widgets', run: unknownWidgets },
  { name: 'visitors: addresses for answers', run: mailAddresses },
  { name: 'visitors: event streams', run: streams },
  { name: 'visitors: pipelined behind streams', run: pipelinedBehindStreams },
];
