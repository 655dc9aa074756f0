import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../../src/auth/api-key-token';
import { Attack, Attacker } from './attacker';

/** Request id of the smuggled request. It would come back on an answer to it, so no answer may have it. */
const SMUGGLED = 'smuggled';
const INNER = `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${SMUGGLED}\r\n\r\n`;
const LENGTH = INNER.length;
const AS_CHUNK = `${LENGTH.toString(16)}\r\n${INNER}\r\n0\r\n\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';

const post = (headers: string, rest: string) =>
  `POST /api/v1/conversations/x/messages HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${rest}`;
const get = (headers: string, rest = '') => `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${rest}`;

/**
 * Requests in which two parsers may find different ends. A parser that finds the inner request behind the end
 * answers it to the wrong client.
 */
const SMUGGLING: Record<string, string> = {
  'length and chunks': post(`Content-Length: 4\r\n${CHUNKED}`, `0\r\n\r\n${INNER}`),
  'chunks and length': post(`${CHUNKED}\r\nContent-Length: ${LENGTH + 5}`, `0\r\n\r\n${INNER}`),
  'two lengths': post(`Content-Length: 0\r\nContent-Length: ${LENGTH}`, INNER),
  'two equal lengths': post(`Content-Length: 0\r\nContent-Length: 0`, INNER),
  'a list of lengths': post(`Content-Length: 0, ${LENGTH}`, INNER),
  'a length with a sign': post(`Content-Length: +0`, INNER),
  'a negative length': post('Content-Length: -1', INNER),
  'a hexadecimal length': post('Content-Length: 0x0', INNER),
  'a length of two words': post(`Content-Length: 0 ${LENGTH}`, INNER),
  'a huge length': post('Content-Length: 99999999999999999999', INNER),
  'an empty length': post('Content-Length:', INNER),
  'a folded length': post(`Content-Length:\r\n ${LENGTH}`, INNER),
  'a folded header with a length': post(`X-A: b\r\n\tc\r\nContent-Length: ${LENGTH}`, INNER),
  'unknown coding': post(`Transfer-Encoding: xchunked\r\nContent-Length: ${LENGTH + 5}`, `0\r\n\r\n${INNER}`),
  'coding after chunked': post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${INNER}`),
  'coding before chunked': post(
    `Transfer-Encoding: identity, chunked\r\nContent-Length: ${LENGTH + 5}`,
    `0\r\n\r\n${INNER}`,
  ),
  'chunked twice': post(`${CHUNKED}\r\nTransfer-Encoding: identity`, `0\r\n\r\n${INNER}`),
  'coding before the colon': post(
    `Transfer-Encoding : chunked\r\nContent-Length: ${LENGTH + 5}`,
    `0\r\n\r\n${INNER}`,
  ),
  'coding behind a tab': post(
    `Transfer-Encoding:\x0bchunked\r\nContent-Length: ${LENGTH + 5}`,
    `0\r\n\r\n${INNER}`,
  ),
  'a folded coding': post(
    `Transfer-Encoding:\r\n chunked\r\nContent-Length: ${LENGTH + 5}`,
    `0\r\n\r\n${INNER}`,
  ),
  'chunks of HTTP/1.0': post(CHUNKED, `0\r\n\r\n${INNER}`).replace('HTTP/1.1', 'HTTP/1.0'),
  'chunk extension': post(CHUNKED, AS_CHUNK.replace('\r\n', ';name=value\r\n')),
  'chunk extension with a line feed': post(CHUNKED, `0;name=\n\r\n\r\n${INNER}`),
  'endless chunk extension': post(CHUNKED, `1;${'x'.repeat(40_000)}`),
  'a chunk that ends with a line feed': post(CHUNKED, `0\n\n${INNER}`),
  'a chunk longer than its size': post(CHUNKED, `1\r\nxx\r\n0\r\n\r\n${INNER}`),
  'a huge chunk': post(CHUNKED, `FFFFFFFFFFFFFFFFF\r\n${INNER}`),
  'a negative chunk': post(CHUNKED, `-1\r\n${INNER}`),
  'a hexadecimal chunk': post(CHUNKED, `0x0\r\n\r\n${INNER}`),
  'a length among the trailers': post(
    `${CHUNKED}\r\nTrailer: Content-Length`,
    `0\r\nContent-Length: ${LENGTH}\r\n`,
  ),
  'line feeds alone': post(`Content-Length: ${LENGTH}`, INNER).replace(/\r\n/g, '\n'),
  'carriage returns alone': post(`Content-Length: ${LENGTH}`, '').replace(/\r\n/g, '\r') + INNER,
  'a line feed in a value': post(`X-A: b\nContent-Length: 0\r\nContent-Length: ${LENGTH}`, INNER),
  'a NUL in a value': post(`X-A: b\0\r\nContent-Length: ${LENGTH}`, INNER),
  'a NUL in a name': post(`X\0A: b\r\nContent-Length: ${LENGTH}`, INNER),
  'a name with a space': post(`Content-Length : 0\r\nContent-Length: ${LENGTH}`, INNER),
  'a header before the request line': `X-A: b\r\n${post(`Content-Length: ${LENGTH}`, INNER)}`,
  'a GET with a body': get(`Content-Length: ${LENGTH}`, INNER),
  'an upgrade with a body': get(`Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: ${LENGTH}`, INNER),
  'a CONNECT with a body': `CONNECT x:443 HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
};

/** Requests that are odd, but in which every parser finds the same end. */
const ODD: Record<string, string | Buffer> = {
  'two hosts': get('Host: y'),
  'an impossible host': 'GET /api/v1/me HTTP/1.1\r\nHost: a b\x7f\r\n\r\n',
  'another host in the path': 'GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n',
  'HTTP/0.9': 'GET /\r\n\r\n',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.9': get('').replace('HTTP/1.1', 'HTTP/1.9'),
  'http/1.1': get('').replace('HTTP/1.1', 'http/1.1'),
  'a TLS hello': Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), randomBytes(501)]),
  'an unknown method': get('').replace('GET', 'FETCH'),
  'a TRACE': get('').replace('GET', 'TRACE'),
  'OPTIONS *': 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
  'a WebSocket': get(
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13',
  ),
  'an unknown expectation': get('Expect: 200-maybe'),
  'an expectation and no body': get('Expect: 100-continue'),
  'a long path': get('').replace('/me', `/${'x'.repeat(40_000)}`),
  'a long query': get('').replace('/me', `/contacts?q=${'%00'.repeat(5_000)}`),
  'a broken percent sign': get('').replace('/me', '/conversations/%E0%A4%A'),
  'a path that climbs': get('').replace('/me', '/../../docs/..%2f..%2fpackage.json'),
  'a path of bytes': Buffer.from(get('').replace('/me', '/\xff\xfe'), 'latin1'),
  'a large header': get(`X-A: ${'x'.repeat(40_000)}`),
  'many headers': get(Array.from({ length: 5_000 }, (_, n) => `X-${n}: ${n}`).join('\r\n')),
  'many equal headers': get(Array.from({ length: 500 }, () => 'X-Forwarded-For: 1.2.3.4').join('\r\n')),
  'many keys': get(Array.from({ length: 200 }, () => 'Authorization: Bearer plk_x').join('\r\n')),
  'a prototype as query': get('').replace('/me', '/conversations?__proto__[limit]=1&constructor=2'),
};

async function smuggling(attacker: Attacker): Promise<void> {
  await attacker.repeat(async () => {
    const names = Object.keys(SMUGGLING);
    const connections = await attacker.open(names.length);
    connections.forEach((connection, n) => connection.send(SMUGGLING[names[n]!]!));
    await attacker.untilAnswered(connections);
    connections.forEach((connection, n) => {
      // If the service waits for more, it has not found the request's end.
      connection.halfClose();
      const ids = connection.answers().map(({ headers }) => headers['x-request-id']);
      if (ids.includes(SMUGGLED)) attacker.answers.complain(`A smuggled request was served: ${names[n]}`);
    });
  });
}

async function oddRequests(attacker: Attacker): Promise<void> {
  await attacker.repeat(async () => {
    const forms = Object.values(ODD);
    const connections = await attacker.open(forms.length);
    connections.forEach((connection, n) => connection.send(forms[n]!));
    await attacker.untilAnswered(connections);
    for (const connection of connections) connection.halfClose();
  });
}

async function pipelinedGarbage(attacker: Attacker): Promise<void> {
  await attacker.repeat(async () => {
    const connections = await attacker.open(Math.min(attacker.sizes.connections, 100));
    for (const connection of connections) {
      connection.send(get('').repeat(20));
      connection.send(randomBytes(16_384));
    }
    await attacker.untilAnswered(connections);
    for (const connection of connections) connection.halfClose();
  });
}

/** Number of requests behind those that wait: 2.6 MB, which took 400 MB when each of them waited. */
const PIPELINED = 100_000;
/** Number of connections that pipeline at once. */
const PIPELINES = 3;
/** Number of requests that wait at the head of a connection, each for a look-up. */
const WAITING = 20;

/**
 * Sends a great many requests behind some that wait.
 * @param waiting makes the requests that wait
 */
export async function pipelineBehind(attacker: Attacker<unknown>, waiting: () => string): Promise<void> {
  const many = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(PIPELINED);
  await attacker.repeat(async () => {
    const connections = await attacker.open(PIPELINES);
    for (const connection of connections) connection.send(waiting() + many);
    await attacker.untilClosed(connections);
  });
}

/** Makes requests with made-up credentials. Each waits until it is looked up with others. */
export function waitForLookups(make: () => string): () => string {
  return () => Array.from({ length: WAITING }, make).join('');
}

export const PROTOCOL: Attack[] = [
  { name: 'protocol: request smuggling', run: smuggling },
  { name: 'protocol: odd requests', run: oddRequests },
  { name: 'protocol: pipelined garbage', run: pipelinedGarbage },
  {
    name: 'protocol: pipelined behind forged keys',
    run: (attacker) =>
      pipelineBehind(
        attacker,
        waitForLookups(() => get(`X-Api-Key: ${generateApiKey()}`)),
      ),
  },
];
