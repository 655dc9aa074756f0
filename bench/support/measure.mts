import { median } from './statistics.mts';

type Sides = Record<string, () => Promise<unknown>>;
/** Results of one round, by the name of the side, such as `ours` and `limit`. */
type Run<Measured extends Sides> = { [Side in keyof Measured]: Awaited<ReturnType<Measured[Side]>> };

/**
 * Runs each side once a round, for `rounds` rounds, so that other load on the machine affects all sides
 * alike. Returns one record of results for each round.
 */
export async function inTurn<Measured extends Sides>(
  rounds: number,
  sides: Measured,
): Promise<Run<Measured>[]> {
  const runs: Run<Measured>[] = [];
  for (let round = 0; round < rounds; round++) {
    const run: Record<string, unknown> = {};
    for (const [side, measure] of Object.entries(sides)) run[side] = await measure();
    runs.push(run as Run<Measured>);
  }
  return runs;
}

/** Returns the median of one figure over the rounds. */
export function middle<T>(runs: T[], figureOf: (run: T) => number): number {
  return median(runs.map(figureOf));
}

/** Error of a measured process's wrong result. The scenario then reports no figure. */
export class WrongAnswers extends Error {}

/** Throws WrongAnswers unless a condition holds. */
export function must(condition: unknown, message: string): asserts condition {
  if (!condition) throw new WrongAnswers(message);
}
