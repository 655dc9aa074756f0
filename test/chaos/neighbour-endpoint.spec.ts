import { NeighbourEndpoint } from './neighbour-endpoint';

describe('the judgement of what an endpoint gets', () => {
  let endpoint: NeighbourEndpoint;

  beforeEach(() => {
    jest.useFakeTimers();
    endpoint = new NeighbourEndpoint('neighbour-1-1');
  });
  afterEach(() => jest.useRealTimers());

  /** Records a change that is requested at a second of the test, and answered 100 ms later. */
  async function change(kind: 'opened' | 'closed' | 'recovered', second: number): Promise<void> {
    jest.setSystemTime(second * 1_000);
    await endpoint.change(kind, () => Promise.resolve(jest.setSystemTime(second * 1_000 + 100)));
  }

  const sentAt = (second: number) => ({ askedAt: second * 1_000, at: second * 1_000 + 50 });
  const mustGet = (second: number) => endpoint.mustGet(sentAt(second));
  const mayGet = (second: number, arrival: number) =>
    endpoint.objection(sentAt(second), arrival * 1_000) === null;

  it('an endpoint must get what was sent since it was created', async () => {
    await change('opened', 1);
    expect([mustGet(0), mustGet(2)]).toEqual([false, true]);
    expect(mayGet(2, 100)).toBe(true);
  });

  it('a closed one must get nothing, and may get nothing 2 s after the answer', async () => {
    await change('opened', 1);
    await change('closed', 10);
    expect([mustGet(2), mustGet(11)]).toEqual([false, false]);
    expect([mayGet(2, 12), mayGet(2, 13), mayGet(11, 100)]).toEqual([true, false, false]);
  });

  it('a reactivated one must get what was sent since, and may not get what was sent before', async () => {
    await change('opened', 1);
    await change('closed', 10);
    await change('opened', 20);
    expect([mustGet(2), mustGet(15), mustGet(21)]).toEqual([false, false, true]);
    expect([mayGet(2, 30), mayGet(15, 30), mayGet(21, 30)]).toEqual([false, false, true]);
    expect([mayGet(2, 11), mayGet(2, 19)]).toEqual([true, false]);
  });

  it('one that recovers must get everything since it was created, from then on', async () => {
    await change('opened', 1);
    await change('closed', 10);
    await change('opened', 20);
    await change('recovered', 30);
    expect([0, 2, 15, 21, 31].map(mustGet)).toEqual([false, true, true, true, true]);
    expect([mayGet(2, 29), mayGet(2, 31)]).toEqual([false, true]);
  });
});
