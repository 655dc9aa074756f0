/**
 * Durations and sizes. Growth scenarios compare the `large` database with the `small` one; all others use the small
 * one.
 *
 * @typedef {object} Sizes
 * @property {number} conversations and contacts; messages are five times as many
 * @property {number} otherEndpoints webhook endpoints of workspaces that are not measured
 * @property {number} oldDeliveries old finished deliveries, with their events and attempts
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
  small: { conversations: 10_000, otherEndpoints: 0, oldDeliveries: 0 },
  large: { conversations: 1_000_000, otherEndpoints: 1_000, oldDeliveries: 1_000_000 },
};

/** Ninety seconds: rough figures. */
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
  large: { conversations: 50_000, otherEndpoints: 1_000, oldDeliveries: 20_000 },
};
