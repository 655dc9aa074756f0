import { Metrics } from '../../src/metrics/metrics';
import { MessagingHost } from './messaging-host';
import { keysOf, openRedis } from './redis-connections';
import { createTenant } from './routes';
import { TestService } from './service';
import { letTimePass, waitFor } from './wait';

/** Time for which a process counts in its memory after a late answer. */
const IN_MEMORY_MS = 2_000;

/**
 * Settles when a process counts calls in Redis. After one late answer it counts in its memory for two
 * seconds.
 */
export async function sharesCounts(
  process: TestService,
  redisUrl: string = process.stores.redisUrl,
): Promise<void> {
  const { client, workspace } = await createTenant(process);
  const redis = openRedis(redisUrl);
  try {
    await waitFor('calls to be counted in Redis', async () => {
      await client.get('/me');
      return (await keysOf(redis, `*${workspace.id}*`)).length > 0;
    });
  } finally {
    redis.disconnect();
  }
}

/**
 * Returns the result of an attempt, or throws its error. An attempt in which Redis has answered a process
 * late, as on a busy machine, shows nothing of limits: it is made again, whatever its result.
 */
export async function countedInRedis<Result>(
  processes: TestService[],
  attempt: () => Promise<Result>,
): Promise<Result> {
  let outcome: Promise<Result>;
  await waitFor('calls that Redis has all counted in time', async () => {
    const lateBefore = await lateAnswers(processes);
    await Promise.all(processes.map((process) => sharesCounts(process)));
    outcome = attempt();
    await Promise.allSettled([outcome]);
    return (await lateAnswers(processes)) === lateBefore;
  });
  return outcome!;
}

/**
 * Does the same as `countedInRedis` for a host without HTTP. Each attempt gets a number, and counts under
 * names of its own.
 */
export async function countedByHost<Result>(
  host: MessagingHost,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  for (let number = 0; ; number++) {
    const lateBefore = await lateAnswers([host]);
    if (lateBefore > 0) await letTimePass(IN_MEMORY_MS);
    const outcome = attempt(number);
    await Promise.allSettled([outcome]);
    if ((await lateAnswers([host])) === lateBefore) return outcome;
  }
}

/** Counts Redis's late answers to the limiters of the processes. */
async function lateAnswers(
  processes: Pick<TestService, 'app'>[] | Pick<MessagingHost, 'app'>[],
): Promise<number> {
  const counters = processes.map(({ app }) => app.get(Metrics, { strict: false }).rateLimiterFallbacks);
  const figures = await Promise.all(counters.map((counter) => counter.get()));
  return figures.reduce((sum, { values }) => sum + values[0]!.value, 0);
}
