import { median } from './statistics.mjs';

/**
 * Runs the sides in turn, `rounds` times each, so that other load on the machine affects all alike.
 *
 * @template T
 * @param {number} rounds
 * @param {Record<string, () => Promise<T>>} sides
 * @returns {Promise<Record<string, T>[]>} one record a round
 */
export async function inTurn(rounds, sides) {
  const runs = [];
  for (let round = 0; round < rounds; round++) {
    /** @type {Record<string, T>} */
    const run = {};
    for (const [side, measure] of Object.entries(sides)) run[side] = await measure();
    runs.push(run);
  }
  return runs;
}

/** The median, over the rounds, of one figure of one side. */
export const middle = (runs, side, figure) => median(runs.map((run) => run[side][figure]));

/** The median of the rounds' ratios of one side's figure to another's. */
export const ratio = (runs, figure, [over, under]) =>
  median(runs.map((run) => run[over][figure] / run[under][figure]));

/** A wrong result: the scenario has no figure. */
export class WrongAnswers extends Error {}

export function must(condition, message) {
  if (!condition) throw new WrongAnswers(message);
}
