// An https receiver of webhooks. It checks every signature and answers every POST at once, except to /hang. On request it
// reports the deliveries.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/** By the path of the endpoint. @type {Record<string, string>} */
let secrets = {};
let arrivals = none();
const hanging = new Set();

function none() {
  return { ids: new Set(), count: 0, forged: 0, /** @type {[number, number][]} */ times: [] };
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
      if (request.url === '/hang') hanging.add(response);
      else take(request, Buffer.concat(chunks), response);
    });
  },
);

function take({ url, headers }, body, response) {
  const arrivedAt = Date.now();
  const digest = createHmac('sha256', secrets[url] ?? '')
    .update(body)
    .digest('hex');
  if (headers['x-service-signature'] !== `sha256=${digest}`) arrivals.forged++;
  const { data } = JSON.parse(body.toString());
  arrivals.ids.add(headers['webhook-id']);
  arrivals.count++;
  arrivals.times.push([Date.parse(data.message.createdAt), arrivedAt]);
  response.end();
}

const commands = {
  expect(message) {
    secrets = message.secrets;
    arrivals = none();
    return {};
  },
  count: () => ({ count: arrivals.ids.size }),
  take() {
    const { ids, count, forged, times } = arrivals;
    arrivals = none();
    return { distinct: ids.size, count, forged, times };
  },
  /** Closes the hanging requests. */
  release() {
    for (const response of hanging) response.destroy();
    hanging.clear();
    return {};
  },
};

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', (message) => process.send(commands[message.command](message)));
process.on('disconnect', () => process.exit());
