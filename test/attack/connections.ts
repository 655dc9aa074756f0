import { Attack, Attacker } from './attacker';

/** Options of a client that does not close its side when the service closes its own. */
const STUBBORN = { allowHalfOpen: true };
const HEAD = 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\n';
const POST =
  'POST /api/v1/conversations/x/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const HOOK_BODY = 3 * 1024 * 1024;
/**
 * Number of requests on a connection whose answers are not read. These exceed the system's socket buffers.
 */
const UNREAD_REQUESTS = 200;

async function slowHeads(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections) connection.send(`${HEAD}X-Slow: `);
  await attacker.drip(connections, 'x');
}

async function slowBodies(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections) connection.send(`${POST}Content-Length: 100000\r\n\r\n{"body":"`);
  await attacker.drip(connections, 'x');
}

async function slowChunks(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections) connection.send(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
  await attacker.drip(connections, '1\r\nx\r\n');
}

/** Sends bodies that lack the last byte of the largest body that the service takes. */
async function unfinishedBodies(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.heavyConnections, STUBBORN);
  const { hookPath } = attacker.foothold;
  const unfinished = Buffer.alloc(HOOK_BODY - 1, ' ');
  for (const connection of connections) {
    connection.send(`POST ${hookPath} HTTP/1.1\r\nHost: x\r\nContent-Length: ${HOOK_BODY}\r\n\r\n`);
    connection.send(unfinished);
  }
  await attacker.untilAnswered(connections);
}

/**
 * Closes the client's side of connections: a third within the head, a third within the body, a third after a
 * whole request.
 */
async function halfClosed(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  const requests = [HEAD, `${POST}Content-Length: 100\r\n\r\n{"body":`, `${HEAD}\r\n`];
  connections.forEach((connection, n) => {
    connection.send(requests[n % requests.length]!);
    connection.halfClose();
  });
  await attacker.untilAnswered(connections);
}

async function unreadAnswers(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.heavyConnections, STUBBORN);
  const request = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const connection of connections) {
    connection.stopReading();
    connection.send(request.repeat(UNREAD_REQUESTS));
  }
}

async function manySilent(attacker: Attacker): Promise<void> {
  await attacker.open(attacker.sizes.manyConnections, STUBBORN);
}

async function manyIdle(attacker: Attacker): Promise<void> {
  const connections = await attacker.open(attacker.sizes.manyConnections);
  for (const connection of connections) connection.send(`${HEAD}\r\n`);
  await attacker.untilAnswered(connections);
}

export const CONNECTIONS: Attack[] = [
  { name: 'connections: slow heads', run: slowHeads },
  { name: 'connections: slow bodies', run: slowBodies },
  { name: 'connections: slow chunks', run: slowChunks },
  { name: 'connections: bodies one byte short', run: unfinishedBodies },
  { name: 'connections: half-closed', run: halfClosed },
  { name: 'connections: unread answers', run: unreadAnswers },
  { name: 'connections: many, silent', run: manySilent },
  { name: 'connections: many, idle after an answer', run: manyIdle },
];
