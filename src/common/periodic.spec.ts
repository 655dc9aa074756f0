import { Periodic } from './periodic';

describe('Periodic', () => {
  let finish: (() => void)[];
  let errors: Error[];
  let periodic: Periodic;
  const times = () => finish.length;
  /** Advances the fake clock by far more than the pause. */
  const timePasses = () => jest.advanceTimersByTimeAsync(1_000);

  beforeEach(() => {
    jest.useFakeTimers();
    finish = [];
    errors = [];
  });
  afterEach(async () => {
    for (const end of finish) end();
    await periodic.stop();
    jest.useRealTimers();
  });

  /** Starts a periodic whose runs end when the test calls `finish`. */
  const start = (fail = false) => {
    periodic = new Periodic(
      1,
      async () => {
        await new Promise<void>((resolve) => finish.push(resolve));
        if (fail) throw new Error('failed');
      },
      (error) => errors.push(error),
    );
    periodic.start();
  };

  it('runs again after the last run has ended, and not before', async () => {
    start();
    await timePasses();
    expect(times()).toBe(1);
    finish[0]!();
    await timePasses();
    expect(times()).toBe(2);
  });

  it('continues after a failure, and reports it', async () => {
    start(true);
    await timePasses();
    finish[0]!();
    await timePasses();
    expect(times()).toBe(2);
    expect(errors.map(({ message }) => message)).toEqual(['failed']);
  });

  it('waits for the current run when it is stopped, and starts no other', async () => {
    start();
    await timePasses();
    let stopped = false;
    const stopping = periodic.stop().then(() => (stopped = true));
    await timePasses();
    expect({ stopped, isStopped: periodic.isStopped }).toEqual({ stopped: false, isStopped: true });
    finish[0]!();
    await stopping;
    await timePasses();
    expect(times()).toBe(1);
  });

  it('runs once for all calls of `runLater` in a pause, and again for a later one', async () => {
    start();
    await periodic.stop();
    periodic = new Periodic(
      1,
      () => new Promise((resolve) => finish.push(resolve)),
      (error) => errors.push(error),
    );
    periodic.runLater();
    periodic.runLater();
    await timePasses();
    expect(times()).toBe(1);
    periodic.runLater();
    await timePasses();
    expect(times()).toBe(1);
    finish[0]!();
    await timePasses();
    expect(times()).toBe(2);
    finish[1]!();
    await timePasses();
    expect(times()).toBe(2);
  });

  it('does nothing when it is stopped before the first run', async () => {
    start();
    await periodic.stop();
    await timePasses();
    expect(times()).toBe(0);
  });
});
