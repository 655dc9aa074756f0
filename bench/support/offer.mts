import { sleep } from '../../scripts/processes.mjs';
import { openDatabase } from '../limits/database.mts';
import { sendMessage } from '../limits/send-message.mts';
import type { Deployment } from './deployment.mts';
import type { Receiving } from './fixture.mts';
import { itemInTurn } from './items.mts';
import { BODY, POOL_SIZE } from './settings.mts';

/** Steady rate of messages, for `seconds` or until a signal. */
export interface Rate {
  perSecond: number;
  seconds?: number;
  until?: AbortSignal;
}

/**
 * Stores messages of the workspaces in turn at a steady rate, each in a transaction like the API's, without
 * the API. Returns their number.
 */
export async function offer(
  deployment: Deployment,
  workspaces: Receiving[],
  { perSecond, seconds = Infinity, until }: Rate,
): Promise<number> {
  const database = openDatabase(deployment.databaseUrl, POOL_SIZE);
  const total = perSecond * seconds;
  const startedAt = performance.now();
  const sending: Promise<unknown>[] = [];
  for (let n = 0; n < total && !until?.aborted; n++) {
    const early = startedAt + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    const { id: tenantId, conversationIds } = itemInTurn(workspaces, n);
    const conversationId = itemInTurn(conversationIds, Math.floor(n / workspaces.length));
    const { redis } = deployment;
    sending.push(sendMessage({ database, redis, tenantId, conversationId, body: { body: BODY } }));
  }
  await Promise.all(sending);
  await database.close();
  return sending.length;
}
