import { setImmediate } from 'node:timers/promises';
import { NodeFailed } from './node-searches';
import { PlacedWork } from './places';

const [FAST, SLOW] = [{ name: 'fast' }, { name: 'slow' }];

describe('work in several places', () => {
  let work: PlacedWork<string>;

  beforeEach(() => {
    work = new PlacedWork();
  });

  const runWithSlow = (slow: Promise<string>) =>
    work.run([FAST, SLOW], ({ name }) => (name === SLOW.name ? slow : Promise.resolve(name)));

  it('returns one result of a place whose last one came late', async () => {
    const late = pending();
    expect(await runWithSlow(late.promise)).toEqual([FAST.name]);
    late.resolve('late');
    await setImmediate();
    expect((await runWithSlow(Promise.resolve('new'))).sort()).toEqual([FAST.name, 'new']);
  });

  it('goes on with the other places while one has failed twice', async () => {
    const late = pending();
    expect(await runWithSlow(late.promise)).toEqual([FAST.name]);
    late.reject(new NodeFailed());
    await setImmediate();
    expect(await runWithSlow(Promise.reject(new NodeFailed()))).toEqual([FAST.name]);
  });

  it('fails when each place has failed', async () => {
    const run = work.run([FAST, SLOW], () => Promise.reject(new NodeFailed()));
    await expect(run).rejects.toThrow(NodeFailed);
  });
});

function pending() {
  let resolve!: (value: string) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<string>((...ends) => ([resolve, reject] = ends));
  return { promise, resolve, reject };
}
