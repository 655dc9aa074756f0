import { Stretches } from './stretches';

const HOUR_MS = 3_600_000;
const NOW = 100 * HOUR_MS;

let stretches: Stretches;

beforeEach(() => {
  stretches = new Stretches();
});

it('begin six hours before the start, and each is an hour at most', () => {
  expect(stretches.begin('main', NOW)).toEqual({ since: NOW - 6 * HOUR_MS, until: NOW - 5 * HOUR_MS });
  stretches.finish('main');
  expect(stretches.begin('main', NOW)).toEqual({ since: NOW - 5 * HOUR_MS, until: NOW - 4 * HOUR_MS });
});

it('are searched again, without a gap, until their search comes to its end', () => {
  const { since } = stretches.begin('main', NOW);
  for (let failed = 1; failed <= 6; failed++)
    expect(stretches.begin('main', NOW + failed * HOUR_MS).since).toBe(since);
  stretches.finish('main');
  expect(stretches.begin('main', NOW + 7 * HOUR_MS).since).toBe(since + HOUR_MS);
});

it('are kept for each database server', () => {
  stretches.begin('main', NOW);
  stretches.finish('main');
  expect(stretches.begin('other', NOW).since).toBe(NOW - 6 * HOUR_MS);
});

describe('work on the rows of a stretch', () => {
  const done: number[] = [];
  const work = (row: number) => {
    if (row === 1) return Promise.reject(new Error('row 1'));
    done.push(row);
    return Promise.resolve();
  };
  beforeEach(() => {
    done.length = 0;
    stretches.begin('main', NOW);
  });

  it('goes on after a row that fails, and then fails itself, so that the row is found again', async () => {
    await expect(stretches.workOn('main', [0, 1, 2], work)).rejects.toThrow('row 1');
    expect(done).toEqual([0, 2]);
  });

  it('leaves a row out that failed ten times, so that it holds up no others', async () => {
    for (let n = 1; n < 10; n++) await expect(stretches.workOn('main', [1], work)).rejects.toThrow();
    await stretches.workOn('main', [1, 2], work);
    expect(done).toEqual([2]);
    stretches.finish('main');
    await expect(stretches.workOn('main', [1], work)).rejects.toThrow();
  });
});
