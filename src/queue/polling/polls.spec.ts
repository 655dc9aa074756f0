import { Database } from '../../database/database';
import { DatabaseClock } from '../../database/database-clock';
import { Polls } from './polls';

/** No database: these polls read nothing, and a clock that is not compared yet is trusted. */
const database = undefined as unknown as Database;

describe('polls', () => {
  let polls: Polls;
  let begun: string[];
  const secondPasses = () => jest.advanceTimersByTimeAsync(1_000);

  beforeEach(() => {
    jest.useFakeTimers();
    begun = [];
    polls = new Polls(database, new DatabaseClock(database));
    polls.onApplicationBootstrap();
  });
  afterEach(async () => {
    await polls.beforeApplicationShutdown();
    jest.useRealTimers();
  });

  const register = (work: string, poll: () => Promise<void>) =>
    polls.register(work, () => {
      begun.push(work);
      return poll();
    });

  it('begin once a second, but for one that still runs', async () => {
    let end!: () => void;
    register('long', () => new Promise((resolve) => (end = resolve)));
    register('short', () => Promise.resolve());
    await secondPasses();
    await secondPasses();
    expect(begun).toEqual(['long', 'short', 'short']);
    end();
    await secondPasses();
    expect(begun.slice(3)).toEqual(['long', 'short']);
    end();
  });

  it('repeat what failed, and fail nothing else', async () => {
    register('broken', () => Promise.reject(new Error('no')));
    register('sound', () => Promise.resolve());
    await secondPasses();
    await secondPasses();
    expect(begun).toEqual(['broken', 'sound', 'broken', 'sound']);
  });

  it('are stopped once those under way have ended', async () => {
    let end!: () => void;
    register('long', () => new Promise((resolve) => (end = resolve)));
    await secondPasses();
    let isStopped = false;
    const stopped = polls.beforeApplicationShutdown().then(() => (isStopped = true));
    await secondPasses();
    expect([polls.areHeld, isStopped]).toEqual([true, false]);
    end();
    await stopped;
    await secondPasses();
    expect(begun).toEqual(['long']);
  });
});
