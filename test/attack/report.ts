import { markdownTable } from '../support/report';
import { Testimony } from './witness';

/** One attack, and its effect on the service and the witness. */
export interface Round {
  attack: string;
  lastedMs: number;
  /**
   * Milliseconds from the end of the attack until the service had as few descriptors as before; null if it
   * never had.
   */
  releasedMs: number | null;
  answers: string;
  witness: Testimony;
  /** Memory of the process under attack in MiB: the peak during the attack, and the value after it. */
  memory: { peak: number; after: number };
  descriptors: { peak: number; after: number };
  workerMemory: number;
}

const COLUMNS = [
  'Attack',
  'Lasted',
  'Released after',
  'Witness p50',
  'p99',
  'Webhook p99',
  'Witness not served',
  'Memory',
  'afterwards',
  'Worker memory',
  'Descriptors',
  'afterwards',
  'Answers to the attacker',
] as const;

/** Returns a Markdown table of the run. */
export function tableOf(rounds: readonly Round[]): string {
  return markdownTable(
    COLUMNS,
    rounds.map((round) => [
      round.attack,
      seconds(round.lastedMs),
      round.releasedMs === null ? 'never' : seconds(round.releasedMs),
      milliseconds(round.witness.p50),
      milliseconds(round.witness.p99),
      milliseconds(round.witness.webhookP99),
      failuresOf(round.witness),
      `${round.memory.peak} MB`,
      `${round.memory.after} MB`,
      `${round.workerMemory} MB`,
      String(round.descriptors.peak),
      String(round.descriptors.after),
      round.answers || '-',
    ]),
  );
}

function failuresOf({ failures, answered }: Testimony): string {
  const kinds = Object.entries(failures).map(([what, times]) => `${what} ×${times}`);
  return `${kinds.join(', ') || '0'} of ${answered}`;
}

function milliseconds(value: number | null): string {
  return value === null ? '-' : `${Math.round(value)} ms`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
