// An https receiver of webhooks. The first segment of an endpoint's path is its group: requests to /hang/…
// are never answered, those to /fail/… get 500, all others are checked and get 200 at once. On request it
// reports the deliveries.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { portOf } from '../../scripts/processes.mjs';
import { tellParent } from './parent.mts';
import { environmentVariable, OLD_BODY } from './settings.mts';
import type { Arrival } from './statistics.mts';

/**
 * Deliveries that came to one group of endpoints: their ids, the number of requests, and the wrongly signed
 * ones.
 */
interface Arrivals {
  ids: Set<string>;
  count: number;
  forged: number;
  times: Arrival[];
}

/** Input of each command that the receiver's process takes. */
export interface Inputs {
  /** Forgets earlier deliveries, and checks the signatures of new ones with these secrets. */
  expect: [path: string, secret: string][];
  /** Counts the deliveries to a group of endpoints, which the input names. */
  count: string;
  /** Returns the deliveries to a group of endpoints, and forgets them. */
  take: string;
  /** Counts the requests so far that were never answered. */
  countHung: null;
  /**
   * Lists for each delivery to the group `fail` the time of its message and of each attempt, in milliseconds.
   */
  listFailed: null;
  /** Closes the connections of the requests that wait for an answer. */
  release: null;
}

/** Result of each command. */
export interface Results {
  expect: null;
  count: number;
  take: { distinct: number; count: number; forged: number; times: Arrival[] };
  countHung: number;
  listFailed: number[][];
  release: null;
}

export interface Command<Name extends keyof Inputs = keyof Inputs> {
  id: number;
  name: Name;
  input: Inputs[Name];
}

export interface Answer {
  id: number;
  result: Results[keyof Results];
}

let secrets = new Map<string, string>();
let arrivals = new Map<string, Arrivals>();
let failed = new Map<string, number[]>();
let hung = 0;
const hanging = new Set<ServerResponse>();

function arrivalsOf(group: string): Arrivals {
  const present = arrivals.get(group);
  if (present) return present;
  const none: Arrivals = { ids: new Set(), count: 0, forged: 0, times: [] };
  arrivals.set(group, none);
  return none;
}

const server = createServer(
  {
    cert: readFileSync(environmentVariable('CERT_FILE')),
    key: readFileSync(environmentVariable('KEY_FILE')),
    keepAliveTimeout: 60_000,
  },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, group = ''] = (request.url ?? '').split('/');
      if (group === 'hang') hang(response);
      else if (group === 'fail') fail(request, Buffer.concat(chunks), response);
      else accept(group, request, Buffer.concat(chunks), response);
    });
  },
);

function hang(response: ServerResponse): void {
  hung++;
  hanging.add(response);
  response.on('close', () => hanging.delete(response));
}

function fail({ headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const id = String(headers['webhook-id']);
  const { createdAt } = messageOf(body);
  failed.set(id, [...(failed.get(id) ?? [Date.parse(createdAt)]), Date.now()]);
  response.statusCode = 500;
  response.end();
}

function accept(
  group: string,
  { url, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  const arrivedAt = Date.now();
  const digest = createHmac('sha256', secrets.get(url ?? '') ?? '')
    .update(body)
    .digest('hex');
  const message = messageOf(body);
  const taken = arrivalsOf(message.body === OLD_BODY ? 'old' : group);
  if (headers['x-service-signature'] !== `sha256=${digest}`) taken.forged++;
  taken.ids.add(String(headers['webhook-id']));
  taken.count++;
  // The others may be a million, and their times are in no figure.
  if (taken === arrivals.get('live')) taken.times.push([askedAt(message), arrivedAt]);
  response.end();
}

/** Returns the time of a message's request if its text says so, else that of its creation. */
function askedAt({ body, createdAt }: { body: string; createdAt: string }): number {
  const asked = / (\d{13})$/.exec(body)?.[1];
  return asked ? Number(asked) : Date.parse(createdAt);
}

/** Returns the message of an event; an event of its status has none, and counts as one without a time. */
function messageOf(body: Buffer): { body: string; createdAt: string } {
  const event = JSON.parse(body.toString()) as { data: { message?: { body: string; createdAt: string } } };
  return event.data.message ?? { body: '', createdAt: '' };
}

const commands: { [Name in keyof Inputs]: (input: Inputs[Name]) => Results[Name] } = {
  expect(pairs) {
    secrets = new Map(pairs);
    arrivals = new Map();
    failed = new Map();
    return null;
  },
  count: (group) => arrivalsOf(group).ids.size,
  take(group) {
    const { ids, count, forged, times } = arrivalsOf(group);
    arrivals.delete(group);
    return { distinct: ids.size, count, forged, times };
  },
  countHung: () => hung,
  listFailed: () => [...failed.values()],
  release() {
    for (const response of hanging) response.destroy();
    hanging.clear();
    return null;
  },
};

function answer<Name extends keyof Inputs>({ id, name, input }: Command<Name>): Answer {
  return { id, result: commands[name](input) };
}

server.listen(0, '127.0.0.1', () => tellParent({ port: portOf(server) }));
process.on('message', (command: Command) => tellParent(answer(command)));
process.on('disconnect', () => process.exit());
