/** Durations in seconds, rounds, and messages a second. */
export type Plan = typeof FULL;

export const FULL = {
  warmUpSeconds: 3,
  reads: { rounds: 3, seconds: 2, messageSeconds: 5, perSecond: 20 },
  cost: { rounds: 2, seconds: 7, perSecond: 50, restSeconds: 5 },
  nodes: { rounds: 3, seconds: 6, callers: 96 },
};

export const QUICK: Plan = {
  warmUpSeconds: 2,
  reads: { ...FULL.reads, rounds: 1, seconds: 1, messageSeconds: 3 },
  cost: { ...FULL.cost, rounds: 1, seconds: 4, restSeconds: 2 },
  nodes: { ...FULL.nodes, rounds: 1, seconds: 5 },
};
