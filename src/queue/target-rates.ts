import { FactoryProvider } from '@nestjs/common';
import { FixedWindows } from '../redis/fixed-windows';
import { StartCapacity, startCapacityOf } from './start-capacity';
import { Target, throughputKeyOf } from './targets';
import { WakeUpQueue, wakeUpsOf } from './wake-up-queue';

/** Keeps the work of targets within their rates, over all workers, and has paused targets woken. */
export class TargetRates {
  constructor(
    private readonly windows: FixedWindows,
    private readonly capacity: StartCapacity,
    private readonly wakeUps: WakeUpQueue,
  ) {}

  /**
   * Returns how much of the wanted work may start in this second. If that is not all, the target is paused
   * until the second ends.
   */
  async acquire(target: Target, perSecond: number, wanted: number): Promise<number> {
    const limit = { windowMs: 1_000, max: perSecond };
    const { granted, endsInMs } = await this.windows.acquire(throughputKeyOf(target), limit, wanted);
    if (granted < wanted) this.pause(target, Math.max(endsInMs, 1));
    return granted;
  }

  /** Takes back acquired work that is not started. */
  async giveBack(target: Target, count: number): Promise<void> {
    if (count > 0) await this.windows.giveBack(throughputKeyOf(target), count);
  }

  /** Keeps a target's work from starting for a while, and wakes a worker for it then. */
  pause(target: Target, delayMs: number): void {
    this.capacity.pause(target, delayMs);
    this.wakeUps.wakeIn(target, delayMs);
  }
}

export function provideTargetRates(queue: string): FactoryProvider<TargetRates> {
  return {
    provide: TargetRates,
    inject: [FixedWindows, startCapacityOf(queue), wakeUpsOf(queue)],
    useFactory: (windows: FixedWindows, capacity: StartCapacity, wakeUps: WakeUpQueue) =>
      new TargetRates(windows, capacity, wakeUps),
  };
}
