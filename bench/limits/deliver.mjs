// The limit of deliveries: signs the bodies of events and posts them to their endpoints over open TLS connections. No
// queue, no claim, no record.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { openDatabase } from './database.mjs';

const database = openDatabase(process.env.DATABASE_URL, 1);
const agent = new Agent({ connect: { ca: readFileSync(process.env.WEBHOOK_EXTRA_CA_FILE) }, pipelining: 1 });

async function deliver({ id, url, secret, data, sequence }) {
  const at = new Date();
  const timestamp = Math.floor(at.getTime() / 1000);
  const body = Buffer.from(`{"event":"message.created","deliveredAt":"${at.toISOString()}","data":${data}}`);
  const ours = createHmac('sha256', secret).update(body).digest('hex');
  const standard = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  const { origin, pathname } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1.0',
      'x-service-event': 'message.created',
      'x-service-signature': `sha256=${ours}`,
      'x-service-delivery': id,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${standard}`,
      'x-service-sequence': sequence,
    },
    body,
  });
  await response.body.dump();
  if (response.statusCode >= 300) throw new Error(`The receiver answered ${response.statusCode}`);
}

/** Posts the latest `count` events, `concurrency` at a time. */
async function run({ count, concurrency, secrets }) {
  const events = await database.readText(
    `SELECT e.id, e.data::text AS data, e.sequence, w.id AS endpoint_id, w.url
     FROM events e JOIN webhook_endpoints w ON w.tenant_id = e.tenant_id
     WHERE w.id = ANY ($1::uuid[]) AND e.sequence IS NOT NULL ORDER BY e.id DESC LIMIT $2`,
    [Object.keys(secrets), count],
  );
  const startedAt = performance.now();
  let next = 0;
  const postInTurn = async () => {
    while (next < events.length) {
      const event = events[next++];
      await deliver({ ...event, secret: secrets[event.endpoint_id] });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, postInTurn));
  return { sent: events.length, ms: performance.now() - startedAt };
}

process.on('message', (options) => {
  run(options).then(
    (result) => process.send(result),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => process.exit());
process.send({ port: 0 });
