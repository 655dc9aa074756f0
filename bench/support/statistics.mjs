/** Percentiles by nearest rank. `ranks` are such as 50, 95, 99. */
export function percentiles(values, ranks) {
  const sorted = Float64Array.from(values).sort();
  return ranks.map((rank) => sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)]);
}

/** Percentiles of milliseconds from a message's creation to its arrival. */
export function latencyOf(/** @type {[number, number][]} */ times) {
  const [p50, p95, p99] = percentiles(
    times.map(([madeAt, arrivedAt]) => arrivedAt - madeAt),
    [50, 95, 99],
  );
  return { p50, p95, p99 };
}

export function median(values) {
  return percentiles(values, [50])[0];
}
