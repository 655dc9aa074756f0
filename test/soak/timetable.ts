import { setTimeout as sleep } from 'node:timers/promises';
import { hanging } from '../chaos/behaviours';
import { SoakCluster } from './cluster';
import { ExpiredRows } from './expired-rows';
import { Minute, percentile, queueSizes } from './minutes';

/** Times of a run of an hour, in minutes; another length scales all of them. */
export const MINUTES = 60;
export const SNAPSHOT = { from: 20, to: 40 };
export const RESTART_EVERY = 5;

/** Runs what happens at each minute, and measures it. */
export class Timetable {
  readonly minutes: Minute[] = [];
  /** Restart that is under way: in a short run it may last longer than to the next one, which is left out. */
  private restarting: Promise<null> | null = null;
  private endSnapshot: () => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly cluster: SoakCluster,
    private readonly expired: ExpiredRows,
    private readonly minuteMs: number,
  ) {}

  async run(onMinute: (minute: Minute, number: number) => void): Promise<void> {
    const startedAt = Date.now();
    for (let number = 0; number < MINUTES; number++) {
      await this.begin(number);
      const [from, to] = [startedAt + number * this.minuteMs, startedAt + (number + 1) * this.minuteMs];
      await sleep(Math.max(0, to - Date.now()));
      const minute = await this.measure(from, to);
      this.minutes.push(minute);
      onMinute(minute, number);
    }
    await this.restarting;
    for (const { receiver } of Object.values(this.cluster.groups)) receiver.heal();
  }

  /** Measures the latencies again, with the messages that were still under way at the end of their minute. */
  finish(): void {
    for (const minute of this.minutes) minute.p95Ms = this.p95(minute.from, minute.to);
  }

  private async begin(number: number): Promise<void> {
    if (number === SNAPSHOT.from) this.endSnapshot = await this.cluster.openSnapshot();
    if (number === SNAPSHOT.to) await this.endSnapshot();
    if (number % RESTART_EVERY !== 0) return;
    const { answering, even, odd } = this.cluster.groups;
    const [next, last] = (number / RESTART_EVERY) % 2 === 0 ? [even, odd] : [odd, even];
    next.receiver.behave(hanging);
    last.receiver.heal();
    if (number === 0) return;
    await this.expired.add(answering.workspaceIds[0]!);
    this.restarting ??= this.cluster.restart().then(() => (this.restarting = null));
    this.restarting.catch(() => undefined); // the end of the run reports it
  }

  private async measure(from: number, to: number): Promise<Minute> {
    const { cluster } = this;
    return {
      from,
      to,
      p95Ms: this.p95(from, to),
      hasRestart: cluster.processes.some(({ down }) => down.some((span) => span.from < to && span.to > from)),
      memoryMb: { api: cluster.memory('api'), worker: cluster.memory('worker') },
      queueBytes: await queueSizes(cluster.stores),
    };
  }

  private p95(from: number, to: number): number {
    const { ledger, name } = this.cluster.groups.answering;
    return percentile(ledger.latencies(name, from, to, 'askedAt'), 0.95);
  }
}
