/** Percentiles by nearest rank. `ranks` are such as 50, 95, 99. */
export function percentiles(values, ranks) {
  const sorted = Float64Array.from(values).sort();
  return ranks.map((rank) => sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)]);
}

export function median(values) {
  return percentiles(values, [50])[0];
}
