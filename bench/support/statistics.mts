/** Times of a message's creation and of its arrival at the webhook receiver, in milliseconds since 1970. */
export type Arrival = [madeAt: number, arrivedAt: number];

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

export function percentilesOf(values: number[]): Percentiles {
  const ascending = Float64Array.from(values).sort();
  return { p50: nearest(ascending, 50), p95: nearest(ascending, 95), p99: nearest(ascending, 99) };
}

/** Returns the percentiles of the milliseconds from a message's creation to its arrival. */
export function latencyOf(times: Arrival[]): Percentiles {
  return percentilesOf(times.map(([madeAt, arrivedAt]) => arrivedAt - madeAt));
}

export function median(values: number[]): number {
  return nearest(Float64Array.from(values).sort(), 50);
}

/** Returns a percentile (`rank`, 0 to 100) of sorted values by the nearest rank; NaN if there are none. */
function nearest(ascending: Float64Array, rank: number): number {
  return ascending[Math.max(0, Math.ceil((rank / 100) * ascending.length) - 1)] ?? NaN;
}
