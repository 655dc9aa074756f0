import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../support/wait';
import { Attack, Attacker } from './attacker';
import { Round } from './report';
import { AttackSizes } from './sizes';
import { Target } from './target';

/**
 * Number of descriptors that may come and go without an attack: connections of the pool to PostgreSQL, and of
 * the witness.
 */
const MAX_MORE_DESCRIPTORS = 50;
const CALM_MS = 3_000;
const POLL_MS = 100;

/** Runs attacks one after the other, and measures what each does to the service and the witness. */
export class Siege<Means> {
  readonly rounds: Round[] = [];
  private readonly attacker: Attacker<Means>;
  private calmDescriptors = 0;

  constructor(
    private readonly target: Target<Means>,
    private readonly sizes: AttackSizes,
  ) {
    this.attacker = new Attacker(target, sizes);
  }

  async run(attacks: readonly Attack<Means>[], onRound: (round: Round) => void): Promise<void> {
    await sleep(CALM_MS); // the first requests find nothing compiled
    this.calmDescriptors = this.descriptors();
    const calm: Attack<Means> = { name: 'none', run: () => sleep(CALM_MS) };
    for (const attack of [calm, ...attacks]) {
      const round = await this.observe(attack);
      this.rounds.push(round);
      onRound(round);
    }
  }

  private async observe(attack: Attack<Means>): Promise<Round> {
    const { target, attacker } = this;
    await target.witness.report();
    target.usage.forgetPeaks();
    const startedAt = Date.now();
    await Promise.all([attacker.run(attack), sleep(this.sizes.floodMs)]);
    await this.untilServing();
    const endedAt = Date.now();
    const isReleased = await this.untilReleased();
    const releasedMs = isReleased ? Date.now() - endedAt : null;
    const witness = await target.witness.report();
    attacker.letGo();
    const { memory, descriptors } = target.usage;
    return {
      attack: attack.name,
      lastedMs: endedAt - startedAt,
      releasedMs,
      answers: attacker.answers.take(),
      witness,
      memory: { peak: memory.peaks.get(target.name) ?? 0, after: memory.latest.get(target.name) ?? 0 },
      descriptors: {
        peak: descriptors.peaks.get(target.name) ?? 0,
        after: descriptors.latest.get(target.name) ?? 0,
      },
      workerMemory: memory.peaks.get('worker') ?? 0,
    };
  }

  /** Waits until the process answers its health check again. */
  private async untilServing(): Promise<void> {
    const isServing = async () => (await fetch(`${this.target.url}/health/live`)).ok;
    await waitFor('the process to answer', () => isServing().catch(() => false), this.sizes.patienceMs * 4);
  }

  /**
   * Waits until the service has closed its side of the connections, while the attacker still holds its own.
   * @returns false when the service had not closed them in time
   */
  private async untilReleased(): Promise<boolean> {
    const giveUpAt = Date.now() + this.sizes.patienceMs;
    while (this.descriptors() > this.calmDescriptors + MAX_MORE_DESCRIPTORS) {
      if (Date.now() > giveUpAt) return false;
      await sleep(POLL_MS);
    }
    return true;
  }

  private descriptors(): number {
    this.target.usage.sample();
    return this.target.usage.descriptors.latest.get(this.target.name) ?? 0;
  }
}
