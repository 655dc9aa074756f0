import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import type { Deployment } from '../support/deployment.mts';
import { itemAt } from '../support/items.mts';
import { putUnderLoad, type LoadResult } from '../support/load.mts';
import { inTurn, must } from '../support/measure.mts';
import { latencyRow, throughputRow, type Pair } from '../support/report.mts';
import { BODY } from '../support/settings.mts';

const CONNECTIONS = 16;
const CONVERSATIONS = 500;

/**
 * Measures the API's route that sends a message. Before it answers, message, conversation and event are on
 * disk and the rate limit has counted the request.
 */
export const sendMessage: Scenario = {
  name: 'send-message',

  async run({ plan, small, progress }) {
    const deployment = await small();
    const { id: tenantId, apiKey } = deployment.fixture.measured;
    const conversations = await deployment.query<{ id: string }>(
      `SELECT id FROM conversations WHERE tenant_id = $1 ORDER BY id LIMIT $2`,
      [tenantId, CONVERSATIONS],
    );
    const load = {
      requests: conversations.map(({ id }) => ({
        method: 'POST',
        path: `/api/v1/conversations/${id}/messages`,
        body: JSON.stringify({ body: BODY }),
      })),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      connections: CONNECTIONS,
    };
    const [service, limit] = await Promise.all([deployment.startService('api'), deployment.startApiLimit()]);
    await sameAnswers(deployment, [service.url, limit.url], itemAt(load.requests, 0), load.headers);
    const sides = (seconds: number) => ({
      ours: () => checkStored(deployment, () => putUnderLoad(service, { ...load, seconds })),
      limit: () => checkStored(deployment, () => putUnderLoad(limit, { ...load, seconds })),
    });
    progress('POST message');
    await inTurn(1, sides(plan.warmUpSeconds));
    const runs = await inTurn(plan.rounds, sides(plan.httpSeconds));
    await deployment.clearEvents();
    const throughputs = runs.map(({ ours, limit }): Pair => [ours.perSecond, limit.perSecond]);
    const latencies = runs.map(({ ours, limit }): Pair => [ours.p99, limit.p99]);
    return [
      throughputRow('POST message', throughputs, 0.7, runs),
      latencyRow('POST message, p99', latencies, 1.5),
    ];
  },
};

/** Message as a response or an event shows it. */
interface Message {
  id: string;
  createdAt: string;
  [field: string]: unknown;
}

/** Stored message and its event, read from the database. */
interface Stored {
  is_last: boolean;
  is_latest: boolean;
  is_in_order: boolean;
  data: { message: Message; [field: string]: unknown };
}

/** Sends one message to each server, and checks that the responses and the stored rows are the same. */
async function sameAnswers(
  deployment: Deployment,
  urls: string[],
  { path, method, body }: { path: string; method: string; body: string },
  headers: Record<string, string>,
): Promise<void> {
  const { id: tenantId, agentId } = deployment.fixture.measured;
  const kept: string[] = [];
  for (const url of urls) {
    const response = await fetch(url + path, { method, headers, body });
    const { message } = (await response.json()) as { message: Message };
    const { id, createdAt, ...rest } = message;
    const expected = {
      senderType: 'AGENT',
      senderAgentId: agentId,
      body: BODY,
      delivery: { status: 'QUEUED', error: null },
      editedAt: null,
      unsentAt: null,
      reactions: [],
    };
    must(
      response.status === 201 && JSON.stringify(rest) === JSON.stringify(expected),
      `not the answer: ${JSON.stringify(message)}`,
    );
    const [row] = await deployment.query<Stored>(
      `SELECT m.sender_type, m.sender_agent_id, m.body, m.delivery_status, m.delivery_error,
              c.last_message_id = m.id AS is_last, c.last_message_preview, c.last_message_at = m.created_at AS is_latest,
              e.type, e.data, e.sequence = c.event_sequence AS is_in_order,
              q.lease_id IS NULL AS is_free
       FROM messages m
       JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
       JOIN events e ON e.tenant_id = m.tenant_id AND e.data->'message'->>'id' = m.id::text
       JOIN event_queue q ON q.tenant_id = e.tenant_id AND q.event_id = e.id
       WHERE m.tenant_id = $1 AND m.id = $2 AND m.created_at = $3`,
      [tenantId, id, createdAt],
    );
    must(row?.is_last && row.is_latest && row.is_in_order, `not stored: ${JSON.stringify(row)}`);
    const {
      message: { id: eventsId, createdAt: eventsTime, ...payload },
      ...event
    } = row.data;
    must(eventsId === id && eventsTime === createdAt, `another event: ${JSON.stringify(row.data)}`);
    kept.push(JSON.stringify({ ...row, data: { ...event, payload } }));
  }
  must(kept[0] === kept[1], `stored in two ways:\n${kept.join('\n')}`);
}

/**
 * Runs a load and checks that each answered message is stored with its event. One more message for each
 * connection may be stored: its caller stopped before the answer.
 */
async function checkStored(deployment: Deployment, load: () => Promise<LoadResult>): Promise<LoadResult> {
  const before = await countStored(deployment);
  const result = await load();
  const after = await countStored(deployment);
  const stored = after.messages - before.messages;
  must(
    stored >= result.answers && stored <= result.answers + CONNECTIONS,
    `${result.answers} messages were answered, ${stored} stored`,
  );
  must(after.events - before.events === stored, `${stored} messages, ${after.events - before.events} events`);
  return result;
}

const SETTLED_MS = 200;

interface Counts {
  messages: number;
  events: number;
}

/**
 * Counts the stored messages and the queued events, once requests that the load left unanswered have ended
 * and the count no longer grows.
 */
async function countStored(deployment: Deployment): Promise<Counts> {
  const count = () =>
    deployment.queryOne<Counts>(
      `SELECT (SELECT count(*) FROM messages WHERE tenant_id = $1)::int AS messages,
              (SELECT count(*) FROM events JOIN event_queue q USING (tenant_id) WHERE tenant_id = $1 AND event_id = id)::int
                AS events`,
      [deployment.fixture.measured.id],
    );
  for (let last = await count(); ;) {
    await sleep(SETTLED_MS);
    const now = await count();
    if (now.messages === last.messages) return now;
    last = now;
  }
}
