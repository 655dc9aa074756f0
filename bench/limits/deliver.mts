// The limit of deliveries: signs the bodies of events and posts them to their endpoints over open TLS
// connections. No queue, no claim, no record.
import { serveParent } from '../support/parent.mts';
import { environmentVariable } from '../support/settings.mts';
import { openDatabase } from './database.mts';
import { postEvent, type PostedEvent } from './post-event.mts';

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

/** Event of the database, with the id of the endpoint that gets it. */
interface Event extends PostedEvent {
  endpoint_id: string;
}

const database = openDatabase(environmentVariable('DATABASE_URL'), 1);

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
    for (const event of waiting) await postEvent(event, secrets[event.endpoint_id]!);
  };
  await Promise.all(Array.from({ length: concurrency }, postInTurn));
  return { sent: events.length, ms: performance.now() - startedAt };
}

serveParent(post);
