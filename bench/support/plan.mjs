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
  growthSeconds: 2,
  deliveries: 6_000,
  latency: { rates: [50, 200, 1000], seconds: 5 },
  isolation: { perSecond: 100, seconds: 8 },
  memory: { deliveries: 30_000 },
  starts: 5,
  /** @type {Sizes} */
  small: { conversations: 10_000, otherEndpoints: 0, oldDeliveries: 0 },
  /** @type {Sizes} */
  large: { conversations: 1_000_000, otherEndpoints: 1_000, oldDeliveries: 1_000_000 },
};

/** Ninety seconds: says whether it works and roughly where it stands. */
export const QUICK = {
  ...FULL,
  warmUpSeconds: 0.5,
  httpSeconds: 0.7,
  growthSeconds: 0.5,
  deliveries: 800,
  latency: { rates: [50, 200, 1000], seconds: 1 },
  isolation: { perSecond: 100, seconds: 1.5 },
  memory: { deliveries: 3_000 },
  starts: 3,
  large: { conversations: 50_000, otherEndpoints: 1_000, oldDeliveries: 20_000 },
};
