import { sleep } from '../../scripts/processes.mjs';
import { must } from './measure.mjs';

const BODY = JSON.stringify({ body: 'It is on its way, and should be with you on Tuesday.' });

/**
 * Sends messages through several API processes in turn at a steady rate, whether or not the earlier ones are answered.
 *
 * @param {string[]} urls of the processes
 * @param {{ apiKey: string, conversationIds: string[] }[]} workspaces
 * @param {{ perSecond: number, seconds: number }} rate
 * @returns how many were sent
 * @throws WrongAnswers when one is not answered with 201
 */
export async function offerByApi(urls, workspaces, { perSecond, seconds }) {
  const startedAt = performance.now();
  const sending = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const early = startedAt + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    const turn = Math.floor(n / workspaces.length);
    // Each workspace uses all processes.
    sending.push(send(urls[(n + turn) % urls.length], workspaces[n % workspaces.length], turn));
  }
  const statuses = await Promise.all(sending);
  const refused = statuses.filter((status) => status !== 201);
  must(refused.length === 0, `${refused.length} messages were answered with ${[...new Set(refused)]}`);
  return sending.length;
}

async function send(url, { apiKey, conversationIds }, turn) {
  const conversationId = conversationIds[turn % conversationIds.length];
  const response = await fetch(`${url}/api/v1/conversations/${conversationId}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: BODY,
  });
  await response.arrayBuffer();
  return response.status;
}
