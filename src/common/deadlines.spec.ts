import { MessageChannel } from 'node:worker_threads';
import { letTimePass } from '../../test/support/wait';
import { startDeadline } from './deadlines';

/** Returns the milliseconds until the call of a deadline. */
async function measure(ms: number): Promise<number> {
  const startedAt = performance.now();
  await new Promise<void>((resolve) => startDeadline(ms, resolve));
  return performance.now() - startedAt;
}

describe('a deadline', () => {
  it('calls back once its time has passed, and not before', async () => {
    expect(await measure(120)).toBeGreaterThanOrEqual(120);
    // By then, the checks have stopped.
    await letTimePass(200);
    expect(await measure(80)).toBeGreaterThanOrEqual(80);
  });

  it('calls nothing after it has ended', async () => {
    const called: string[] = [];
    const end = startDeadline(60, () => called.push('ended'));
    startDeadline(60, () => called.push('other'));
    end();
    await measure(200);
    expect(called).toEqual(['other']);
  });

  it('lets an answer count that arrived while the event loop was blocked', async () => {
    const { port1, port2 } = new MessageChannel();
    const first = new Promise((resolve) => {
      startDeadline(100, () => resolve('deadline'));
      port1.once('message', resolve);
    });
    port2.postMessage('answer');
    const until = performance.now() + 300;
    while (performance.now() < until);
    expect(await first).toBe('answer');
    port1.close();
  });
});
