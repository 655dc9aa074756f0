import { FAULTS, faultsNamed } from './faults';
import { STEADY, STRUCK } from './receivers';
import { Plan } from './scenario';

/** Every fault alone, then all of them together. */
export const FULL: Plan = {
  receivers: [...STEADY, ...STRUCK, 'hopeless'],
  mute: [],
  single: FAULTS,
  mixed: FAULTS.filter(({ target }) => target !== 'logs'),
};

/** A few faults of each kind together, short enough for every test run. */
export const SHORT: Plan = {
  receivers: [...STEADY, ...STRUCK],
  mute: ['api-2', 'worker-2'],
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
    'receiver: resets connections',
    'receiver: 1 MB of headers',
    'name server: fails',
  ),
};

/** One fault alone, or `mixed` for all of them together. */
export function only(name: string): Plan {
  if (name === 'mixed') return { ...FULL, single: [] };
  return { ...FULL, receivers: SHORT.receivers, single: faultsNamed(name), mixed: [] };
}
