import { execFileSync } from 'node:child_process';

/** Amount of the attacker's work, and limits of the service under attack. */
export interface AttackSizes {
  /** Environment variables of the service, in addition to the defaults. */
  env: Record<string, string>;
  /** Time limit for the service to close what it must close. */
  patienceMs: number;
  /** Number of connections that an attack opens by default. */
  connections: number;
  /** Number of connections that an attack opens if each holds much memory. */
  heavyConnections: number;
  /** Number of connections of an attack that tries to use up all that the service accepts. */
  manyConnections: number;
  /** Interval between two bytes of a connection that sends slowly. */
  dripEveryMs: number;
  /** Minimum duration of each flood. */
  floodMs: number;
  perSecond: number;
  streams: number;
  contacts: number;
  /** Number of events in one signed body. */
  events: number;
  bodyDepth: number;
}

/** Sizes of the long run, which has production's limits. */
export const FULL: AttackSizes = {
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

/** Sizes of the short run, whose smaller limits are reached by few connections in a few seconds. */
export const SHORT: AttackSizes = {
  env: {
    HTTP_MAX_CONNECTIONS: '150',
    HTTP_HEAD_TIMEOUT_MS: '1000',
    HTTP_BODY_TIMEOUT_MS: '2000',
    HTTP_IDLE_TIMEOUT_MS: '2000',
    HTTP_MAX_UNFINISHED_BYTES: String(4 * 1024 * 1024),
    WIDGET_STREAMS: '100',
  },
  patienceMs: 30_000,
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

/** Returns the number of files that a process may open. */
function openFileLimit(): number {
  const limit = Number(execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  return Number.isNaN(limit) ? 20_000 : limit; // unlimited
}
