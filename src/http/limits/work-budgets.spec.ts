import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Config } from '../../config/config';
import { Metrics } from '../../metrics/metrics';
import { OutsideKind, WorkBudgets, WorkKind } from './work-budgets';

const ENVIRONMENT = {
  DATABASE_URL: 'postgres://localhost/messaging',
  REDIS_URL: 'redis://localhost',
  SECRETS_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};

function makeBudgets(environment: Record<string, string>): WorkBudgets {
  return new WorkBudgets(Config.from({ ...ENVIRONMENT, ...environment }), new Metrics());
}

/** Counts the slots that are free now for a key, and leaves them free. */
async function countFree(budgets: WorkBudgets, kind: WorkKind, keys: string[]): Promise<number> {
  const caller = () => Object.assign(new EventEmitter(), { closed: false });
  const callers = keys.map(caller);
  const releases: (() => void)[] = [];
  const acquired = keys.map((key, n) =>
    budgets.acquire(kind, key, callers[n]).then((release) => releases.push(release)),
  );
  await setImmediate();
  const count = releases.length;
  for (const one of callers) one.emit('close');
  await Promise.allSettled(acquired);
  for (const release of releases) release();
  return count;
}

describe('work budgets', () => {
  let budgets: WorkBudgets;

  beforeEach(() => {
    budgets = makeBudgets({ DATABASE_POOL_SIZE: '8' });
  });

  const response = () => Object.assign(new EventEmitter(), { closed: false });
  const freeOfRequests = () => countFree(budgets, 'requests', Array<string>(5).fill('a'));
  const waitAndGoOn = async (kind: OutsideKind, wait: Promise<void>) => {
    await budgets.waitOutside(kind, 'a', () => wait);
    await budgets.reacquireSlot();
  };

  it('give a request one slot again, however many of its waits end at once', async () => {
    await budgets.runRequest('a', response(), async () => {
      expect(await freeOfRequests()).toBe(3);
      const waits = [1, 2, 3].map(() => waitAndGoOn('lookups', setImmediate()));
      expect(await freeOfRequests()).toBe(4);
      await Promise.all(waits);
      expect(await freeOfRequests()).toBe(3);
      await budgets.reacquireSlot();
      expect(await freeOfRequests()).toBe(3);
    });
    expect(await freeOfRequests()).toBe(4);
  });

  it('keep no slot for a request that ends while it waits for one', async () => {
    const others = [1, 2, 3, 4].map(() => budgets.acquire('requests', 'a'));
    let wait: Promise<void> = Promise.resolve();
    (await others.pop()!)();
    await budgets.runRequest('a', response(), async () => {
      budgets.releaseSlot();
      others.push(budgets.acquire('requests', 'a'));
      await setImmediate();
      wait = budgets.reacquireSlot();
    });
    for (const other of others) (await other)();
    await wait;
    expect(await freeOfRequests()).toBe(4);
  });

  it('let calls of providers hold a third of the connections, however many requests there may be', async () => {
    budgets = makeBudgets({ DATABASE_POOL_SIZE: '6', REQUEST_CONCURRENCY: '60' });
    expect(await countFree(budgets, 'providers', ['a', 'b', 'c', 'd'])).toBe(2);
  });
});
