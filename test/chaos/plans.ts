import { existsSync } from 'node:fs';
import { FAULTS, faultsNamed } from './faults';
import { STEADY, STRUCK } from './receivers';
import { Plan, ChaosSizes } from './scenario';
import { FULL_DISK } from './service-process';

const LARGE: ChaosSizes = {
  patienceMs: 120_000,
  flood: { messages: 2_000, endpoints: 20 },
  tarpits: { messages: 20, endpoints: 50, least: 10_000, most: 20_000 },
  backlog: 1_000,
  recovery: { messages: 1_000, perSecond: 100, kills: 4 },
};

const SMALL: ChaosSizes = {
  patienceMs: 3_000,
  flood: { messages: 100, endpoints: 10 },
  tarpits: { messages: 2, endpoints: 10, least: 2_000, most: 4_000 },
  backlog: 60,
  recovery: { messages: 60, perSecond: 30, kills: 1 },
};

/** Plan of the long run: every fault alone, then all of them together. */
export const FULL: Plan = {
  receivers: [...STEADY, ...STRUCK, 'hopeless'],
  mute: [],
  single: FAULTS,
  mixed: FAULTS.filter(({ target }) => target !== 'logs'),
  sizes: LARGE,
  withSmallDisk: true,
};

/** Plan of the short run: a few faults of each kind together, short enough for every test run. */
export const SHORT: Plan = {
  receivers: [...STEADY, ...STRUCK],
  mute: existsSync(FULL_DISK) ? ['api-2', 'worker-2'] : [],
  single: [],
  mixed: faultsNamed(
    'worker: SIGKILL',
    'API process: SIGKILL in mid-request',
    'all workers: SIGKILL',
    'worker: SIGTERM',
    'PostgreSQL: immediate shutdown, restarted',
    'PostgreSQL: connections cut',
    'Redis: SIGKILL, restarted empty',
    'Redis: FLUSHALL',
    'Redis: failover, the old primary refuses writes',
    'receiver: resets connections',
    'receiver: 1 MB of headers',
    'name server: fails',
    'neighbour: flood',
    'neighbour: endpoints deleted with a backlog',
    'neighbour: endpoint reactivated with a backlog',
  ),
  sizes: SMALL,
  withSmallDisk: false,
};

/** Returns a plan with one fault alone, or all of them together for `mixed`. */
export function only(name: string): Plan {
  if (name === 'mixed') return { ...FULL, single: [] };
  return { ...FULL, receivers: SHORT.receivers, single: faultsNamed(name), mixed: [] };
}
