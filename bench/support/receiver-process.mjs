// An https receiver of webhooks. The first segment of an endpoint's path is its group: requests to /hang/… are never
// answered, those to /fail/… get 500, all others are checked and get 200 at once. On request it reports the deliveries.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { OLD_BODY } from './settings.mjs';

/** By the path of the endpoint. @type {Map<string, string>} */
let secrets = new Map();
/** @typedef {ReturnType<typeof none>} Arrivals */
/** By group. @type {Map<string, Arrivals>} */
let arrivals = new Map();
/** The message's time and those of its arrivals at /fail/…, by delivery. @type {Map<string, number[]>} */
let failed = new Map();
let hung = 0;
const hanging = new Set();

function none() {
  return { ids: new Set(), count: 0, forged: 0, /** @type {[number, number][]} */ times: [] };
}

function arrivalsOf(group) {
  let ofGroup = arrivals.get(group);
  if (!ofGroup) arrivals.set(group, (ofGroup = none()));
  return ofGroup;
}

const server = createServer(
  {
    cert: readFileSync(process.env.CERT_FILE),
    key: readFileSync(process.env.KEY_FILE),
    keepAliveTimeout: 60_000,
  },
  (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const [, group] = request.url.split('/');
      if (group === 'hang') hang(response);
      else if (group === 'fail') fail(request, Buffer.concat(chunks), response);
      else take(group, request, Buffer.concat(chunks), response);
    });
  },
);

function hang(response) {
  hung++;
  hanging.add(response);
  response.on('close', () => hanging.delete(response));
}

function fail({ headers }, body, response) {
  const id = headers['webhook-id'];
  const { data } = JSON.parse(body.toString());
  failed.set(id, [...(failed.get(id) ?? [Date.parse(data.message.createdAt)]), Date.now()]);
  response.statusCode = 500;
  response.end();
}

function take(group, { url, headers }, body, response) {
  const arrivedAt = Date.now();
  const digest = createHmac('sha256', secrets.get(url) ?? '')
    .update(body)
    .digest('hex');
  const { data } = JSON.parse(body.toString());
  const taken = arrivalsOf(data.message.body === OLD_BODY ? 'old' : group);
  if (headers['x-service-signature'] !== `sha256=${digest}`) taken.forged++;
  taken.ids.add(headers['webhook-id']);
  taken.count++;
  // Nobody asks for the others, which may be a million.
  if (taken === arrivals.get('live')) taken.times.push([Date.parse(data.message.createdAt), arrivedAt]);
  response.end();
}

const commands = {
  expect(message) {
    secrets = new Map(message.secrets);
    arrivals = new Map();
    failed = new Map();
    return {};
  },
  count: ({ group }) => ({ count: arrivalsOf(group).ids.size }),
  take({ group }) {
    const { ids, count, forged, times } = arrivalsOf(group);
    arrivals.delete(group);
    return { distinct: ids.size, count, forged, times };
  },
  /** The number of requests to endpoints that hang. */
  hung: () => ({ hung }),
  /** The times of each delivery that fails. */
  failed: () => ({ attempts: [...failed.values()] }),
  /** Closes the hanging requests. */
  release() {
    for (const response of hanging) response.destroy();
    hanging.clear();
    return {};
  },
};

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', (message) =>
  process.send({ ...commands[message.command](message), answers: message.id }),
);
process.on('disconnect', () => process.exit());
