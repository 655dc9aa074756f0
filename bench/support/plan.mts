/**
 * Numbers of rows of a database. `small` is shared; each other database serves the scenario of its name or of
 * its growth.
 */
export interface Sizes {
  /** Number of conversations and of contacts. There are five times as many messages. */
  conversations: number;
  /** Number of webhook endpoints of workspaces that are not measured. */
  otherEndpoints: number;
  /** Number of old, succeeded deliveries, each with its event. */
  oldDeliveries: number;
  /** Number of workspaces with an endpoint; 100 by default. */
  receiving?: number;
}

/** Load of messages: webhook endpoints of each workspace, and messages a second of all workspaces. */
export interface EventLoad {
  workspaces: number;
  webhooks: 0 | 1;
  perSecond: number;
  seconds: number;
}

/** Plan of a benchmark run: rounds, durations in seconds, rates, and sizes of the databases. */
export type Plan = typeof FULL;

/** Plan by default. All scenarios but the heavy ones take ten minutes at most. */
export const FULL = {
  rounds: 3,
  warmUpSeconds: 1,
  httpSeconds: 3,
  growthSeconds: 1.5,
  deliveries: 10_000,
  latency: { rounds: 3, rates: [50, 200, 1000], seconds: 4 },
  isolation: { rounds: 3, perSecond: 100, seconds: 6 },
  perEvent: {
    rounds: 5,
    loads: [
      { workspaces: 1, webhooks: 1, perSecond: 200, seconds: 15 },
      { workspaces: 20, webhooks: 1, perSecond: 200, seconds: 10 },
      { workspaces: 20, webhooks: 0, perSecond: 200, seconds: 10 },
      { workspaces: 20, webhooks: 1, perSecond: 10, seconds: 10 },
      { workspaces: 20, webhooks: 1, perSecond: 500, seconds: 10 },
    ] as EventLoad[],
    saturated: [
      { workspaces: 1, webhooks: 1 },
      { workspaces: 20, webhooks: 1 },
    ] as Omit<EventLoad, 'perSecond' | 'seconds'>[],
    counted: { perSecond: 20, seconds: 10 },
    warmUpSeconds: 5,
    restSeconds: 15,
    saturationSeconds: 10,
    /** Days of history, each with a partition. */
    days: 40,
  },
  scaling: { rounds: 3, seconds: 2, deliveries: 6_000 },
  memory: { deliveries: 30_000 },
  neighbour: { perSecond: 50, seconds: 10 },
  flood: { events: 10_000, endpoints: 50 },
  tarpits: { workspaces: [2, 10], endpointsEach: 50, seconds: 40 },
  heldSnapshot: { minutes: 10, perSecond: 200 },
  backlog: { deliveries: 1_000_000 },
  recover: { events: 1_000_000 },
  recoveries: { endpoints: 1_000, events: 20 },
  redisAway: { attempts: 6 },
  files: { rounds: 3, pictures: 100, perSecond: 100, warmUpSeconds: 5, seconds: 20 },
  shares: { rounds: 1, processes: [2, 4, 8], perSecond: 100, warmUpSeconds: 8, seconds: 10 },
  starts: 3,
  small: { conversations: 10_000, otherEndpoints: 0, oldDeliveries: 0 },
  large: { conversations: 1_000_000, otherEndpoints: 1_000, oldDeliveries: 0 },
  many: { conversations: 0, otherEndpoints: 0, oldDeliveries: 0, receiving: 10_000 },
  history: { conversations: 10_000, otherEndpoints: 1_000, oldDeliveries: 10_000_000 },
};

/** Plan of `--quick`: rough figures in ninety seconds. */
export const QUICK: Plan = {
  ...FULL,
  warmUpSeconds: 0.3,
  httpSeconds: 0.5,
  growthSeconds: 0.2,
  deliveries: 1_000,
  latency: { rounds: 1, rates: [50, 200, 1000], seconds: 1 },
  isolation: { rounds: 1, perSecond: 100, seconds: 1.5 },
  perEvent: {
    ...FULL.perEvent,
    rounds: 1,
    loads: [{ workspaces: 1, webhooks: 1, perSecond: 200, seconds: 3 }] as EventLoad[],
    counted: { perSecond: 20, seconds: 3 },
    warmUpSeconds: 2,
    restSeconds: 5,
    saturationSeconds: 3,
  },
  scaling: { rounds: 1, seconds: 0.5, deliveries: 1_000 },
  memory: { deliveries: 2_000 },
  neighbour: { perSecond: 50, seconds: 3 },
  flood: { events: 200, endpoints: 50 },
  tarpits: { workspaces: [2, 10], endpointsEach: 50, seconds: 12 },
  heldSnapshot: { minutes: 3, perSecond: 200 },
  backlog: { deliveries: 20_000 },
  recover: { events: 5_000 },
  recoveries: { endpoints: 100, events: 5 },
  redisAway: { attempts: 3 },
  files: { rounds: 1, pictures: 10, perSecond: 100, warmUpSeconds: 2, seconds: 4 },
  shares: { ...FULL.shares, perSecond: 48, warmUpSeconds: 3, seconds: 3 },
  starts: 1,
  large: { conversations: 50_000, otherEndpoints: 1_000, oldDeliveries: 0 },
  many: { ...FULL.many, receiving: 1_000 },
  history: { ...FULL.history, oldDeliveries: 50_000 },
};
