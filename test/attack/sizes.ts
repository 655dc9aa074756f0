import { execFileSync } from 'node:child_process';

/** How much the attacker does, and the limits of the service that it attacks. */
export interface Sizes {
  /** Set on top of the defaults. */
  env: Record<string, string>;
  /** Until the service has closed what it must close. */
  patienceMs: number;
  /** Connections of an attack. */
  connections: number;
  /** Those that hold much memory each. */
  heavyConnections: number;
  /** Of the attacks with many. */
  manyConnections: number;
  /** Of those that send slowly. */
  dripEveryMs: number;
  /** How long each flood lasts at least. */
  floodMs: number;
  perSecond: number;
  streams: number;
  contacts: number;
  /** Events in one signed body. */
  events: number;
  bodyDepth: number;
}

/** What production has. */
export const FULL: Sizes = {
  env: {},
  patienceMs: 120_000,
  connections: 1_000,
  heavyConnections: 200,
  manyConnections: Math.min(10_000, openFileLimit() - 1_000),
  dripEveryMs: 1_000,
  floodMs: 20_000,
  perSecond: 400,
  streams: 6_000,
  contacts: 100_000,
  events: 20_000,
  bodyDepth: 100_000,
};

/** Smaller limits, so that few connections and seconds reach them. */
export const SHORT: Sizes = {
  env: {
    HTTP_MAX_CONNECTIONS: '150',
    HTTP_HEAD_TIMEOUT_MS: '1000',
    HTTP_BODY_TIMEOUT_MS: '2000',
    HTTP_IDLE_TIMEOUT_MS: '2000',
    HTTP_MAX_UNFINISHED_BYTES: String(4 * 1024 * 1024),
    WIDGET_STREAMS: '100',
  },
  patienceMs: 15_000,
  connections: 100,
  heavyConnections: 70,
  manyConnections: 600,
  dripEveryMs: 250,
  floodMs: 1_500,
  perSecond: 400,
  streams: 150,
  contacts: 12_000,
  events: 2_000,
  bodyDepth: 50_000,
};

/** Of each process. */
function openFileLimit(): number {
  const limit = Number(execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  return Number.isNaN(limit) ? 20_000 : limit; // unlimited
}
