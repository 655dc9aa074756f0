import { ms } from '../support/report.mts';
import { percentilesOf } from '../support/statistics.mts';

/** The measured values, each beside its goal. */
export class Figures {
  private readonly rows: string[][] = [];
  private readonly notes: string[] = [];

  /** Adds the 50th and 95th percentiles of times in milliseconds; null means that there is no goal. */
  add(name: string, goalMs: number | null, times: number[]): void {
    const { p50, p95 } = percentilesOf(times);
    const isMet = goalMs === null ? '' : p95 <= goalMs ? 'yes' : 'no';
    this.rows.push([name, goalMs === null ? '' : `≤ ${goalMs} ms`, ms(p50), ms(p95), isMet]);
    process.stderr.write(`  ${this.rows.at(-1)!.join(' | ')}\n`);
  }

  addText(name: string, goal: string, value: string, isMet: boolean): void {
    this.rows.push([name, goal, value, '', isMet ? 'yes' : 'no']);
    process.stderr.write(`  ${this.rows.at(-1)!.join(' | ')}\n`);
  }

  note(text: string): void {
    this.notes.push(text);
  }

  table(): string {
    const head = ['Measure', 'Goal', 'p50', 'p95', 'Met'];
    const lines = [head, head.map(() => '---'), ...this.rows].map((cells) => `| ${cells.join(' | ')} |`);
    return [...lines, '', ...this.notes].join('\n');
  }
}
