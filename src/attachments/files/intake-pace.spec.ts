import { IntakePace } from './intake-pace';

const MEBIBYTE = 1024 * 1024;

let pace: IntakePace;

beforeEach(() => {
  jest.useFakeTimers();
  pace = new IntakePace();
});
afterEach(() => jest.useRealTimers());

/** Takes parts of 64 KiB one after another, and returns how many were taken so far. */
function takeParts(tenantId: string, count: number): () => number {
  let taken = 0;
  void (async () => {
    for (; taken < count; taken++) await pace.take(tenantId, MEBIBYTE / 16);
  })();
  return () => taken;
}

it('takes 8 MiB a second of a workspace, whatever the number of its files', async () => {
  const files = [takeParts('a', 10_000), takeParts('a', 10_000), takeParts('a', 10_000)];
  await jest.advanceTimersByTimeAsync(10_000);
  const taken = files.reduce((sum, file) => sum + file(), 0);
  expect(taken / 16).toBeGreaterThan(75);
  expect(taken / 16).toBeLessThan(83);
});

it('does not delay the files of one workspace for those of another', async () => {
  takeParts('a', 10_000);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(pace.take('b', MEBIBYTE / 16)).toBeUndefined();
});

it('lets a small file pass at once', () => {
  expect(pace.take('a', MEBIBYTE / 2)).toBeUndefined();
});

it('forgets workspaces whose bytes are taken in', async () => {
  for (let n = 0; n <= 1_000; n++) void pace.take(`workspace ${n}`, 1);
  await jest.advanceTimersByTimeAsync(1);
  void pace.take('one more', 1);
  expect(pace['doneAt'].size).toBe(1);
});
