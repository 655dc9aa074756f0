// The limit of deliveries: signs the bodies of events and posts them to their endpoints over open TLS
// connections. No queue, no claim, no record.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { serveParent } from '../support/parent.mts';
import { environmentVariable } from '../support/settings.mts';
import { openDatabase } from './database.mts';

/** Command to deliver the latest `count` events, with `concurrency` requests in flight. */
export interface Posting {
  count: number;
  concurrency: number;
  /** Signing secrets of the endpoints, by endpoint id. Other endpoints get no events. */
  secrets: Record<string, string>;
}

export interface Posted {
  sent: number;
  ms: number;
}

/** Event of the database, with the id and the URL of the endpoint that gets it. */
interface Event {
  id: string;
  data: string;
  sequence: string;
  endpoint_id: string;
  url: string;
}

const database = openDatabase(environmentVariable('DATABASE_URL'), 1);
const agent = new Agent({
  connect: { ca: readFileSync(environmentVariable('WEBHOOK_EXTRA_CA_FILE')) },
  pipelining: 1,
});

async function deliver({ id, url, data, sequence }: Event, secret: string): Promise<void> {
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

async function post({ count, concurrency, secrets }: Posting): Promise<Posted> {
  const events = await database.queryText<Event>(
    `SELECT e.id, e.data::text AS data, e.sequence, w.id AS endpoint_id, w.url
     FROM events e JOIN webhook_endpoints w ON w.tenant_id = e.tenant_id
     WHERE w.id = ANY ($1::uuid[]) AND e.sequence IS NOT NULL ORDER BY e.id DESC LIMIT $2`,
    [Object.keys(secrets), count],
  );
  const startedAt = performance.now();
  const waiting = events.values();
  const postInTurn = async () => {
    for (const event of waiting) await deliver(event, secrets[event.endpoint_id]!);
  };
  await Promise.all(Array.from({ length: concurrency }, postInTurn));
  return { sent: events.length, ms: performance.now() - startedAt };
}

serveParent(post);
