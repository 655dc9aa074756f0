import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, messageOf, portOf } from '../../scripts/processes.mjs';

// Runs the client of one workspace, and the receiver of its webhooks, in a process of its own, so that the
// attacker's work does not delay the measurements. It reads and writes in turn, at a steady pace, and repeats
// a write until it gets 201.

const EVERY_MS = 50;
const GIVE_UP_MS = 15_000;
const RETRY_MS = 250;
/** Largest number of requests in flight. At this number no request begins, so that the pace falls. */
const MAX_IN_FLIGHT = 100;
/** Largest number of requests of a page in flight: a browser has six connections to a server. */
const MAX_IN_FLIGHT_OF_PAGE = 6;

/**
 * The workspace, and the conversation to which its client writes.
 *
 * @typedef {{ url: string, key: string, conversationId: string }} Workspace
 */

/**
 * Session at the dashboard, and the paths that its pages read.
 *
 * @typedef {{ url: string, cookie: string, paths: string[] }} Session
 */

const [certFile = '', keyFile = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 20 });
/** Times at which messages were answered with 201 (`promised`) and arrived as webhooks (`arrived`), by id. */
/** @type {Map<string, number>} */
const promised = new Map();
/** @type {Map<string, number>} */
const arrived = new Map();
/** @type {string[]} */
const unexpected = [];
let span = newSpan();
let inFlight = 0;
let count = 0;
/** @type {NodeJS.Timeout | undefined} */
let timer;

const receiver = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (call, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    call.on('data', (chunk) => chunks.push(chunk));
    call.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString()).data.message;
      if (!arrived.has(id)) arrived.set(id, Date.now());
      response.end();
    });
  },
);
receiver.keepAliveTimeout = 60_000;
receiver.listen(0, '127.0.0.1', () => process.send?.({ port: portOf(receiver) }));

process.on('message', (/** @type {{ begin?: Workspace | Session, end?: boolean }} */ { begin, end }) => {
  if (begin) timer = setInterval(() => void next(begin), EVERY_MS);
  else if (end) clearInterval(timer);
  process.send?.(report());
});
process.on('disconnect', () => process.exit());

/**
 * Measurements since the last report.
 *
 * @typedef {object} Span
 * @property {number} since
 * @property {number} served
 * @property {number[]} latencies
 * @property {Record<string, number>} failures
 */

/** @returns {Span} */
function newSpan() {
  return { since: Date.now(), served: 0, latencies: [], failures: {} };
}

/** Sends the measurements since the last report. */
function report() {
  const { since, served, latencies, failures } = span;
  span = newSpan();
  const webhooks = [...promised].flatMap(([id, at]) => {
    const arrivedAt = arrived.get(id);
    return at >= since && arrivedAt !== undefined ? Math.max(0, arrivedAt - at) : [];
  });
  return {
    answered: latencies.length,
    served,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    webhookP99: percentile(webhooks, 0.99),
    failures,
    promised: promised.size,
    missing: [...promised.keys()].filter((id) => !arrived.has(id)).length,
    inFlight,
    unexpected,
  };
}

/**
 * @param {number[]} values
 * @param {number} part
 */
function percentile(values, part) {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? null;
}

/** @param {Workspace | Session} begun */
async function next(begun) {
  if (inFlight >= ('cookie' in begun ? MAX_IN_FLIGHT_OF_PAGE : MAX_IN_FLIGHT)) return;
  inFlight += 1;
  const number = ++count;
  if ('cookie' in begun) await visit(begun, number);
  else await (number % 2 ? read(begun) : write(begun, number));
  inFlight -= 1;
}

/**
 * @param {Session} session
 * @param {number} number
 */
async function visit({ url, cookie, paths }, number) {
  await ask(`${url}${paths[number % paths.length]}`, 'GET', { cookie });
}

/** @param {Workspace} workspace */
async function read({ url, key }) {
  await ask(`${url}/api/v1/conversations?limit=5`, 'GET', { authorization: `Bearer ${key}` });
}

/**
 * @param {Workspace} workspace
 * @param {number} number
 */
async function write({ url, key, conversationId }, number) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': `witness-${number}`,
  };
  const body = JSON.stringify({ body: `Witness ${number}` });
  for (;;) {
    const answer = await ask(`${url}/api/v1/conversations/${conversationId}/messages`, 'POST', headers, body);
    if (answer?.status === 201) return void promised.set(JSON.parse(answer.text).message.id, Date.now());
    if (answer && answer.status !== 503) return;
    await sleep(RETRY_MS);
  }
}

/**
 * Sends a request; returns null without an answer.
 *
 * @param {string} url
 * @param {'GET' | 'POST'} method
 * @param {Record<string, string>} headers
 * @param {string} [body]
 */
async function ask(url, method, headers, body) {
  const startedAt = performance.now();
  try {
    const answer = await send(url, { method, headers, agent, timeout: GIVE_UP_MS }, body);
    span.latencies.push(performance.now() - startedAt);
    if (answer.status < 300) span.served += 1;
    else countFailure(answer.status);
    if (answer.status >= 300 && answer.status !== 503)
      unexpected.push(`${method} ${url} was answered with ${answer.status}: ${answer.text}`);
    return answer;
  } catch (error) {
    countFailure(codeOf(error) ?? messageOf(error));
    return null;
  }
}

/** @param {string | number} what */
function countFailure(what) {
  span.failures[what] = (span.failures[what] ?? 0) + 1;
}

/**
 * @param {string} url
 * @param {import('node:http').RequestOptions} options
 * @param {string} [body]
 * @returns {Promise<{ status: number, text: string }>}
 */
function send(url, options, body) {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body);
  });
}
