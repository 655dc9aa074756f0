/**
 * How long and how big. `small` and `large` are two databases with the same shape; growth is measured from one to the
 * other, everything else on the small one.
 *
 * @typedef {object} Sizes
 * @property {number} conversations and as many contacts; five times as many messages
 * @property {number} otherEndpoints webhook endpoints of workspaces that are not measured
 * @property {number} oldDeliveries deliveries that are long over, with their events and attempts
 */

/** Ten minutes at most. */
export const FULL = {
  rounds: 3,
  warmUpSeconds: 1,
  httpSeconds: 3,
  growthSeconds: 1.5,
  deliveries: 10_000,
  latency: { rounds: 3, rates: [50, 200, 1000], seconds: 4 },
  isolation: { rounds: 3, perSecond: 100, seconds: 6 },
  scaling: { rounds: 3, seconds: 2, deliveries: 6_000 },
  memory: { deliveries: 30_000 },
  starts: 3,
  /** @type {Sizes} */
  small: { conversations: 10_000, otherEndpoints: 0, oldDeliveries: 0 },
  /** @type {Sizes} */
  large: { conversations: 1_000_000, otherEndpoints: 1_000, oldDeliveries: 1_000_000 },
};

/** Ninety seconds: says whether it works and roughly where it stands. */
export const QUICK = {
  ...FULL,
  warmUpSeconds: 0.3,
  httpSeconds: 0.5,
  growthSeconds: 0.2,
  deliveries: 1_000,
  latency: { rounds: 1, rates: [50, 200, 1000], seconds: 1 },
  isolation: { rounds: 1, perSecond: 100, seconds: 1.5 },
  scaling: { rounds: 1, seconds: 0.5, deliveries: 1_000 },
  memory: { deliveries: 2_000 },
  starts: 1,
  /** @type {Sizes} */
  large: { conversations: 50_000, otherEndpoints: 1_000, oldDeliveries: 20_000 },
};
