import { sleep } from '../../scripts/processes.mjs';
import { putUnderLoad } from '../support/load.mjs';
import { inTurn, must } from '../support/measure.mjs';
import { latencyRow, throughputRow } from '../support/report.mjs';

const CONNECTIONS = 16;
const CONVERSATIONS = 500;
const BODY = 'It is on its way, and should be with you on Tuesday.';

/** Sends messages: message, conversation, event and rate limit, durable before the response. */
export const sendMessage = {
  name: 'send-message',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, small, progress }) {
    const deployment = await small();
    const { id: tenantId, apiKey } = deployment.fixture.measured;
    const conversations = await deployment.query(
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
    const [service, limit] = await Promise.all([
      deployment.startService('api'),
      deployment.startLimit('api.mjs'),
    ]);
    await sameAnswers(deployment, [service.url, limit.url], load);
    const sides = (seconds) => ({
      ours: () => checkStored(deployment, () => putUnderLoad(service, { ...load, seconds })),
      limit: () => checkStored(deployment, () => putUnderLoad(limit, { ...load, seconds })),
    });
    progress('POST message');
    await inTurn(1, sides(plan.warmUpSeconds));
    const runs = await inTurn(plan.rounds, sides(plan.httpSeconds));
    await deployment.clearEvents();
    return [throughputRow('POST message', runs, 0.7), latencyRow('POST message, p99', runs, 1.5)];
  },
};

/** Sends one message to each server, and compares the responses and the rows. */
async function sameAnswers(deployment, urls, { requests: [{ path, method, body }], headers }) {
  const { id: tenantId, agentId } = deployment.fixture.measured;
  const kept = [];
  for (const url of urls) {
    const response = await fetch(url + path, { method, headers, body });
    const { message } = await response.json();
    const { id, createdAt, ...rest } = message;
    const expected = {
      senderType: 'AGENT',
      senderAgentId: agentId,
      body: BODY,
      delivery: { status: 'QUEUED', error: null },
    };
    must(
      response.status === 201 && JSON.stringify(rest) === JSON.stringify(expected),
      `not the answer: ${JSON.stringify(message)}`,
    );
    const [row] = await deployment.query(
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

/** Checks that each answered message is stored with its event. The last one of each caller may be unanswered. */
async function checkStored(deployment, load) {
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

/** Counts messages and events after the last, unanswered requests have ended. */
async function countStored(deployment) {
  const count = async () => {
    const [row] = await deployment.query(
      `SELECT (SELECT count(*) FROM messages WHERE tenant_id = $1)::int AS messages,
              (SELECT count(*) FROM events JOIN event_queue q USING (tenant_id) WHERE tenant_id = $1 AND event_id = id)::int
                AS events`,
      [deployment.fixture.measured.id],
    );
    return row;
  };
  for (let last = await count(); ;) {
    await sleep(SETTLED_MS);
    const now = await count();
    if (now.messages === last.messages) return now;
    last = now;
  }
}
