import { sleep } from '../../scripts/processes.mjs';
import { openDatabase } from '../limits/database.mjs';
import { sendMessage } from '../limits/send-message.mjs';
import { POOL_SIZE } from './settings.mjs';

/**
 * Sends messages to the workspaces in turn at a steady rate, each in its own transaction, as the API does.
 *
 * @param {{ perSecond: number, seconds?: number, until?: AbortSignal }} rate
 * @returns how many were sent
 */
export async function offer(deployment, workspaces, { perSecond, seconds = Infinity, until }) {
  const database = openDatabase(deployment.databaseUrl, POOL_SIZE);
  const total = perSecond * seconds;
  const startedAt = performance.now();
  const sending = [];
  for (let n = 0; n < total && !until?.aborted; n++) {
    const early = startedAt + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    const { id: tenantId, conversationIds } = workspaces[n % workspaces.length];
    const turn = Math.floor(n / workspaces.length);
    sending.push(
      sendMessage({
        database,
        redis: deployment.redis,
        tenantId,
        conversationId: conversationIds[turn % conversationIds.length],
        body: { body: 'It is on its way, and should be with you on Tuesday.' },
      }),
    );
  }
  await Promise.all(sending);
  await database.close();
  return sending.length;
}
