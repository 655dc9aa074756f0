import { setImmediate } from 'node:timers/promises';
import { NodeFailed } from './node-searches';
import { NodeWork } from './node-work';

const [FAST, SLOW] = [{ name: 'fast' }, { name: 'slow' }];

describe('work on several nodes', () => {
  const nodes = () => Promise.resolve([FAST, SLOW]);
  let slow: Promise<string>;
  let work: NodeWork<typeof FAST, string>;

  beforeEach(() => {
    work = new NodeWork(nodes, ({ name }) => (name === SLOW.name ? slow : Promise.resolve(name)));
  });

  const runWithSlow = (next: Promise<string>) => {
    slow = next;
    return work.run();
  };

  it('returns one result of a node whose last one came late', async () => {
    const late = pending();
    expect(await runWithSlow(late.promise)).toEqual([FAST.name]);
    late.resolve('late');
    await setImmediate();
    expect((await runWithSlow(Promise.resolve('new'))).sort()).toEqual([FAST.name, 'new']);
  });

  it('goes on with the other nodes while one has failed twice', async () => {
    const late = pending();
    expect(await runWithSlow(late.promise)).toEqual([FAST.name]);
    late.reject(new NodeFailed());
    await setImmediate();
    expect(await runWithSlow(Promise.reject(new NodeFailed()))).toEqual([FAST.name]);
  });

  it('fails when each node has failed', async () => {
    const failing = new NodeWork(nodes, () => Promise.reject(new NodeFailed()));
    await expect(failing.run()).rejects.toThrow(NodeFailed);
  });
});

function pending() {
  let resolve!: (value: string) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<string>((...ends) => ([resolve, reject] = ends));
  return { promise, resolve, reject };
}
