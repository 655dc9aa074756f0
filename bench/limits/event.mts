// The limit of an event: a server written by hand that stores a message, its conversation's preview and its
// event with one statement, posts the webhooks, and records all that were answered in the meantime with one
// more. One process, no framework, lease, retry or validation.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { v7 as newId } from 'uuid';
import { portOf } from '../../scripts/processes.mjs';
import { endWithParent, tellParent } from '../support/parent.mts';
import { environmentVariable, POOL_SIZE } from '../support/settings.mts';
import { openDatabase } from './database.mts';
import { send, textOf } from './http.mts';
import { postEvent } from './post-event.mts';

const PREVIEW_LENGTH = 140;

const STORE = `
  WITH caller AS (
    SELECT tenant_id FROM api_keys
    WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AND 'messages:write' = ANY (scopes)
  ), sender AS (
    SELECT id FROM agents WHERE tenant_id = (SELECT tenant_id FROM caller) AND active AND role IN ('OWNER', 'ADMIN')
    ORDER BY id LIMIT 1
  ), conversation AS (
    UPDATE conversations SET last_message_id = $3, last_message_preview = $5, last_message_at = $6, updated_at = $6,
      event_sequence = event_sequence + 1
    WHERE tenant_id = (SELECT tenant_id FROM caller) AND id = $2 RETURNING tenant_id, event_sequence
  ), message AS (
    INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
    SELECT tenant_id, $2, $3, 'AGENT', sender.id, $4, 'QUEUED', $6 FROM conversation, sender
  ), event AS (
    INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
    SELECT tenant_id, $3, 'message.created', $7, event_sequence, $6 FROM conversation
  ), endpoint AS (
    SELECT e.id, e.url FROM webhook_endpoints e, conversation c WHERE e.tenant_id = c.tenant_id AND e.active
  ), queued AS (
    INSERT INTO event_queue (tenant_id, event_id) SELECT tenant_id, $3 FROM conversation WHERE EXISTS (SELECT FROM endpoint)
  )
  SELECT c.tenant_id AS "tenantId", c.event_sequence AS sequence, s.id AS "agentId", e.id AS "endpointId", e.url
  FROM conversation c CROSS JOIN sender s LEFT JOIN endpoint e ON true`;

const RECORD = `
  WITH done AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::integer[])
      AS d (tenant_id, id, endpoint_id, event_id, attempted_at, duration_ms)
  ), ended AS (
    DELETE FROM event_queue q USING done d WHERE q.tenant_id = d.tenant_id AND q.event_id = d.event_id
  )
  INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
                                  finished_at, attempted_at, duration_ms, status_code, response)
  SELECT tenant_id, id, 1, endpoint_id, event_id, 'message.created', 'SUCCEEDED', 1, now(), attempted_at, duration_ms,
         200, ''
  FROM done`;

/** Row of STORE: the stored message and one endpoint that gets its event, if there is any. */
interface Stored {
  tenantId: string;
  sequence: string;
  agentId: string;
  endpointId: string | null;
  url: string;
}

interface Posted {
  tenantId: string;
  id: string;
  endpointId: string;
  eventId: string;
  at: Date;
  durationMs: number;
}

const database = openDatabase(environmentVariable('DATABASE_URL'), POOL_SIZE);
/** Signing secrets by endpoint id. */
let secrets: Record<string, string> = {};
let unrecorded: Posted[] = [];
let isRecording = false;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const conversationId = (request.url ?? '').split('/').at(-2);
  const key = (request.headers.authorization ?? '').slice('Bearer '.length);
  const { body } = JSON.parse(await textOf(request)) as { body: string };
  const [id, createdAt] = [newId(), new Date()];
  const data = JSON.stringify({ conversationId, message: { id, body, senderType: 'AGENT', createdAt } });
  const preview = body.trim().replace(/\s+/g, ' ').slice(0, PREVIEW_LENGTH);
  const hash = createHash('sha256').update(key).digest();
  const rows = await database.queryText<Stored>(STORE, [
    hash,
    conversationId,
    id,
    body,
    preview,
    createdAt,
    data,
  ]);
  const [stored] = rows;
  if (!stored) return send(response, 404, { error: { code: 'NOT_FOUND' } });
  const delivery = { status: 'QUEUED', error: null };
  const message = { id, senderType: 'AGENT', senderAgentId: stored.agentId, body, createdAt, delivery };
  send(response, 201, { message });
  for (const row of rows) if (row.endpointId) await deliver(id, data, { ...row, endpointId: row.endpointId });
}

async function deliver(
  eventId: string,
  data: string,
  { tenantId, endpointId, url, sequence }: Stored & { endpointId: string },
): Promise<void> {
  const at = new Date();
  const startedAt = performance.now();
  const id = newId();
  await postEvent({ id, data, sequence, url }, secrets[endpointId]!);
  const durationMs = Math.round(performance.now() - startedAt);
  unrecorded.push({ tenantId, id, endpointId, eventId, at, durationMs });
  if (!isRecording) await record();
}

/** Records the answers, until none is left. */
async function record(): Promise<void> {
  isRecording = true;
  while (unrecorded.length > 0) {
    const batch = unrecorded;
    unrecorded = [];
    await database.queryText(RECORD, [
      batch.map(({ tenantId }) => tenantId),
      batch.map(({ id }) => id),
      batch.map(({ endpointId }) => endpointId),
      batch.map(({ eventId }) => eventId),
      batch.map(({ at }) => at),
      batch.map(({ durationMs }) => durationMs),
    ]);
  }
  isRecording = false;
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => tellParent({ port: portOf(server) }));
process.on('message', (given: Record<string, string>) => {
  secrets = given;
  tellParent({});
});
endWithParent();
