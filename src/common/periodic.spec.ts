import { setImmediate as turn } from 'node:timers/promises';
import { Periodic } from './periodic';

describe('Periodic', () => {
  let finish: (() => void)[];
  let errors: Error[];
  let periodic: Periodic;
  const times = () => finish.length;
  const until = async (met: () => boolean) => {
    while (!met()) await turn();
  };

  beforeEach(() => {
    finish = [];
    errors = [];
  });
  afterEach(async () => {
    for (const end of finish) end();
    await periodic.stop();
  });

  /** Each run ends when the test calls `finish`. */
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
    await until(() => times() === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(times()).toBe(1);
    finish[0]!();
    await until(() => times() === 2);
  });

  it('continues after a failure, and reports it', async () => {
    start(true);
    await until(() => times() === 1);
    finish[0]!();
    await until(() => times() === 2);
    expect(errors.map(({ message }) => message)).toEqual(['failed']);
  });

  it('waits for the current run when it is stopped, and starts no other', async () => {
    start();
    await until(() => times() === 1);
    let stopped = false;
    const stopping = periodic.stop().then(() => (stopped = true));
    await turn();
    expect({ stopped, isStopped: periodic.isStopped }).toEqual({ stopped: false, isStopped: true });
    finish[0]!();
    await stopping;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(times()).toBe(1);
  });

  it('does nothing when it is stopped before the first run', async () => {
    start();
    await periodic.stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(times()).toBe(0);
  });
});
