import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../support/wait';
import { ChaosCluster } from './cluster';
import { Fault } from './faults';
import { Random } from './random';
import { ReceiverName, STEADY, STRUCK } from './receivers';

/** Longest wait for a recovery: more than the suite allows, so that a slow recovery is still measured. */
const PATIENCE_MS = 60_000;

/** Sizes of what the faults of neighbours send. */
export interface ChaosSizes {
  /**
   * Time for which a fault waits for its last delivery. Missing deliveries are found at the end of the run.
   */
  patienceMs: number;
  flood: { messages: number; endpoints: number };
  /** Load of each workspace whose endpoints hang, for `least` to `most` milliseconds. */
  tarpits: { messages: number; endpoints: number; least: number; most: number };
  /** Number of messages that wait for an endpoint. */
  backlog: number;
  recovery: { messages: number; perSecond: number; kills: number };
}

export interface Plan {
  receivers: ReceiverName[];
  /** Names of the processes that can't write their log from the start. */
  mute: string[];
  /** Faults that strike one at a time, each after recovery from the previous one. */
  single: Fault[];
  /**
   * Faults that strike together at random moments. Faults of one target strike one after the other, in random
   * order.
   */
  mixed: Fault[];
  sizes: ChaosSizes;
  /** Whether PostgreSQL's files are on a disk that can be full. */
  withSmallDisk: boolean;
}

/** The recovery from one fault, or from several together. */
export interface Episode {
  fault: string;
  lastedMs: number;
  /** Milliseconds from the fault's end to the first delivery of a message promised after that end. */
  recoveredMs: number;
  /**
   * Milliseconds from the fault's end until the steady receivers have all messages promised before that end.
   */
  caughtUpMs: number;
  duplicates: number;
  messages: number;
  deliveries: number;
  /**
   * Latency from promise to acceptance, at the steady receiver, of the messages promised during the fault.
   */
  witnessP95Ms: number | null;
}

/** Runs a plan's faults, and measures recovery. */
export class ChaosScenario {
  readonly episodes: Episode[] = [];
  /** Faults that can't strike on this machine, each with the reason. */
  readonly notStruck = new Set<string>();

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly random: Random,
    private readonly onEpisode: (episode: Episode) => void,
  ) {}

  async run({ single, mixed }: Plan): Promise<void> {
    await this.observe('none', ['steady'], () => sleep(2_000));
    for (const fault of await this.possible(single)) {
      await sleep(this.random.between(100, 1_500));
      await this.observe(fault.name, [fault.witness], () => fault.strike(this.cluster, this.random));
      await fault.undo?.(this.cluster);
      await this.allReady();
    }
    if (mixed.length === 0) return;
    const possible = await this.possible(mixed);
    await this.observe('mixed', [...STEADY, ...STRUCK], () => this.strikeTogether(possible));
    await this.allReady();
  }

  private async possible(faults: readonly Fault[]): Promise<Fault[]> {
    const possible: Fault[] = [];
    for (const fault of faults) {
      const obstacle = await fault.obstacle?.(this.cluster);
      if (obstacle) this.notStruck.add(`${fault.name}: ${obstacle}`);
      else possible.push(fault);
    }
    return possible;
  }

  private async strikeTogether(faults: readonly Fault[]): Promise<void> {
    const targets = [...new Set(faults.map(({ target }) => target))];
    // Even after a failure all faults end first: what they start must be stopped with the rest.
    const ends = await Promise.allSettled(
      targets.map(async (target) => {
        const random = this.random.stream(target);
        const ofTarget = faults.filter((fault) => fault.target === target);
        for (const fault of shuffled(ofTarget, random)) {
          await sleep(random.between(200, 3_000));
          await fault.strike(this.cluster, random);
        }
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason as Error;
  }

  private async observe(
    name: string,
    witnesses: readonly ReceiverName[],
    strike: () => Promise<void>,
  ): Promise<void> {
    const { ledger } = this.cluster;
    const before = {
      duplicates: ledger.duplicates,
      messages: ledger.promised.size,
      deliveries: ledger.accepted.length,
    };
    const startedAt = Date.now();
    await strike();
    const endedAt = Date.now();
    const recovered = await Promise.all(witnesses.map((witness) => this.firstNewDelivery(witness, endedAt)));
    const caughtUpMs = await this.caughtUp(endedAt);
    const episode: Episode = {
      fault: name,
      lastedMs: endedAt - startedAt,
      recoveredMs: Math.max(...recovered) - endedAt,
      caughtUpMs,
      duplicates: ledger.duplicates - before.duplicates,
      messages: ledger.promised.size - before.messages,
      deliveries: ledger.accepted.length - before.deliveries,
      witnessP95Ms: percentile(ledger.latencies('steady', startedAt, endedAt), 0.95),
    };
    this.episodes.push(episode);
    this.onEpisode(episode);
  }

  private firstNewDelivery(witness: ReceiverName, after: number): Promise<number> {
    const { ledger } = this.cluster;
    return waitFor(
      `a new delivery to the ${witness} receiver`,
      () => ledger.firstNewDelivery(witness, after),
      PATIENCE_MS,
    );
  }

  private async caughtUp(endedAt: number): Promise<number> {
    const { ledger } = this.cluster;
    await waitFor('all promised messages', () => ledger.missing(STEADY, endedAt).length === 0, PATIENCE_MS);
    return Date.now() - endedAt;
  }

  private async allReady(): Promise<void> {
    await Promise.all(this.cluster.processes.map((process) => process.ready()));
  }
}

/**
 * Returns a percentile; null without values.
 * @param values in ascending order
 */
function percentile(values: readonly number[], part: number): number | null {
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? null;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
