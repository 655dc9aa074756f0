/**
 * Shifts the clock of a process; loaded before the service by `--require`. SIGUSR2 puts the clock
 * CLOCK_OFFSET_MS ahead, and a second SIGUSR2 sets it right again. With CLOCK_STARTS=wrong the clock is ahead
 * from the start.
 */
const RealDate = Date;
const offsetMs = Number(process.env.CLOCK_OFFSET_MS);
let isWrong = process.env.CLOCK_STARTS === 'wrong';

const now = () => RealDate.now() + (isWrong ? offsetMs : 0);

Reflect.defineProperty(globalThis, 'Date', {
  value: new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  }),
  configurable: true,
  writable: true,
});

process.on('SIGUSR2', () => {
  isWrong = !isWrong;
});
