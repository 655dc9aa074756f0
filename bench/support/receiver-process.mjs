// An https receiver of webhooks in a process of its own. It checks every signature and answers every POST at once, but
// those to /hang never. When asked it tells what came.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/** Of the endpoints, by path. @type {Record<string, string>} */
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

const answers = {
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
  /** Cuts those that hang. */
  release() {
    for (const response of hanging) response.destroy();
    hanging.clear();
    return {};
  },
};

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', (message) => process.send(answers[message.ask](message)));
process.on('disconnect', () => process.exit());
