import { FactoryProvider } from '@nestjs/common';
import { FixedWindows } from '../redis/fixed-windows';
import { StartCapacity, startCapacityOf } from './start-capacity';
import { Target, throughputKeyOf } from './targets';
import { WakeUps } from './wake-ups';

/**
 * Limits the number of each target's items that start in a second, by a count in Redis for all workers. A
 * target that has reached its rate is paused, and woken at the end of the pause.
 */
export class TargetRates {
  constructor(
    private readonly queue: string,
    private readonly windows: FixedWindows,
    private readonly capacity: StartCapacity,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Returns how many of the wanted items may start in this second. If not all may, the target is paused. */
  async acquire(target: Target, perSecond: number, wanted: number): Promise<number> {
    const limit = { windowMs: 1_000, max: perSecond };
    const { granted, endsInMs } = await this.windows.acquire(throughputKeyOf(target), limit, wanted);
    if (granted < wanted) this.pause(target, Math.max(endsInMs, 1));
    return granted;
  }

  /** Subtracts items that `acquire` counted, but that were not started, from the count of this second. */
  async giveBack(target: Target, count: number): Promise<void> {
    if (count > 0) await this.windows.giveBack(throughputKeyOf(target), count);
  }

  /** Lets no work of a target start in this process for `delayMs`, and then wakes the worker. */
  pause(target: Target, delayMs: number): void {
    this.capacity.pause(target, delayMs);
    // The pause is one for live and background work, so both are woken.
    for (const isBackground of [false, true])
      this.wakeUps.wakeIn(this.queue, { ...target, isBackground }, delayMs);
  }
}

export function provideTargetRates(queue: string): FactoryProvider<TargetRates> {
  return {
    provide: TargetRates,
    inject: [FixedWindows, startCapacityOf(queue), WakeUps],
    useFactory: (windows: FixedWindows, capacity: StartCapacity, wakeUps: WakeUps) =>
      new TargetRates(queue, windows, capacity, wakeUps),
  };
}
