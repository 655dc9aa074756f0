import { sleep } from '../../scripts/processes.mjs';
import type { ApiKey, Receiving } from './fixture.mts';
import { itemInTurn } from './items.mts';
import { must } from './measure.mts';
import { bodyAskedAt } from './settings.mts';

/** Workspace with webhook endpoints and an API key. */
export type Sender = Receiving & ApiKey;

/**
 * Posts messages to several API processes in turn at a steady rate, whether or not earlier requests are
 * answered. Returns their number.
 *
 * @throws WrongAnswers when one is not answered with 201
 */
export async function offerByApi(
  urls: string[],
  senders: Sender[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number> {
  const startedAt = performance.now();
  const sending: Promise<number>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const early = startedAt + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    const turn = Math.floor(n / senders.length);
    // Each workspace uses all processes.
    sending.push(send(itemInTurn(urls, n + turn), itemInTurn(senders, n), turn));
  }
  const statuses = await Promise.all(sending);
  const refused = statuses.filter((status) => status !== 201);
  must(
    refused.length === 0,
    `${refused.length} messages were answered with ${[...new Set(refused)].join(', ')}`,
  );
  return sending.length;
}

/** Posts one message, and returns the status of the response. */
async function send(url: string, { apiKey, conversationIds }: Sender, turn: number): Promise<number> {
  const response = await fetch(`${url}/api/v1/conversations/${itemInTurn(conversationIds, turn)}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ body: bodyAskedAt(Date.now()) }),
  });
  await response.arrayBuffer();
  return response.status;
}
