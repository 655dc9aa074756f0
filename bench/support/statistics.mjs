/**
 * @param {number[]} values
 * @param {number[]} ranks such as 50, 95, 99
 * @returns {number[]} the percentiles, by nearest rank
 */
export function percentiles(values, ranks) {
  const sorted = Float64Array.from(values).sort();
  return ranks.map((rank) => sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)]);
}

/** @param {number[]} values */
export function median(values) {
  return percentiles(values, [50])[0];
}
