/**
 * The size of a database. Those but `small` serve one scenario each, which they are named after, or its
 * growth.
 */
export interface Sizes {
  /** Conversations, and as many contacts; messages are five times as many. */
  conversations: number;
  /** Webhook endpoints of workspaces that are not measured. */
  otherEndpoints: number;
  /** Old finished deliveries, with their events. */
  oldDeliveries: number;
  /** Workspaces with an endpoint. */
  receiving?: number;
}

/** Durations and sizes. */
export type Plan = typeof FULL;

/** Takes ten minutes at most. */
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
  neighbour: { perSecond: 50, seconds: 10 },
  flood: { events: 10_000, endpoints: 50 },
  tarpits: { workspaces: [2, 10], endpointsEach: 50, seconds: 40 },
  backlog: { deliveries: 1_000_000 },
  recover: { events: 1_000_000 },
  redisAway: { attempts: 6 },
  shares: { rounds: 1, processes: [2, 4, 8], perSecond: 100, warmUpSeconds: 8, seconds: 10 },
  starts: 3,
  small: { conversations: 10_000, otherEndpoints: 0, oldDeliveries: 0 },
  large: { conversations: 1_000_000, otherEndpoints: 1_000, oldDeliveries: 0 },
  many: { conversations: 0, otherEndpoints: 0, oldDeliveries: 0, receiving: 10_000 },
  history: { conversations: 10_000, otherEndpoints: 1_000, oldDeliveries: 10_000_000 },
};

/** Takes ninety seconds, for rough figures. */
export const QUICK: Plan = {
  ...FULL,
  warmUpSeconds: 0.3,
  httpSeconds: 0.5,
  growthSeconds: 0.2,
  deliveries: 1_000,
  latency: { rounds: 1, rates: [50, 200, 1000], seconds: 1 },
  isolation: { rounds: 1, perSecond: 100, seconds: 1.5 },
  scaling: { rounds: 1, seconds: 0.5, deliveries: 1_000 },
  memory: { deliveries: 2_000 },
  neighbour: { perSecond: 50, seconds: 3 },
  flood: { events: 200, endpoints: 50 },
  tarpits: { workspaces: [2, 10], endpointsEach: 50, seconds: 12 },
  backlog: { deliveries: 20_000 },
  recover: { events: 5_000 },
  redisAway: { attempts: 3 },
  shares: { ...FULL.shares, perSecond: 48, warmUpSeconds: 3, seconds: 3 },
  starts: 1,
  large: { conversations: 50_000, otherEndpoints: 1_000, oldDeliveries: 0 },
  many: { ...FULL.many, receiving: 1_000 },
  history: { ...FULL.history, oldDeliveries: 50_000 },
};
