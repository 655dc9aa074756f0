import {
  AutomaticRecovery,
  beginProbing,
  beginRound,
  endRound,
  failProbe,
  MAX_ROUNDS,
  nextStepOf,
  sendProbe,
} from './automatic-recovery';

const START = new Date('2026-11-02T08:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const missing: AutomaticRecovery = {
  tenantId: 't',
  endpointId: 'e',
  state: 'MISSING',
  since: START,
  misses: 1,
  missesSeen: 0,
  rounds: 0,
  probes: 0,
  probingSince: null,
  recoveryId: null,
  cursor: null,
  stopReason: null,
  dueAt: START,
};
const probing = beginProbing(missing, START);
const recovering = beginRound(probing, 'round');

function later(minutes: number): Date {
  return new Date(START.getTime() + minutes * MINUTE_MS);
}

/** Lets every probe fail at once, and returns the minutes at which the probes were due. */
function failAll(from: AutomaticRecovery): { minutes: number[]; end: AutomaticRecovery } {
  const minutes: number[] = [];
  let recovery = from;
  while (recovery.state === 'PROBING') {
    const now = recovery.dueAt!;
    expect(nextStepOf(recovery, null, now)).toBe('probe');
    minutes.push((now.getTime() - START.getTime()) / MINUTE_MS);
    recovery = failProbe(sendProbe(recovery, 'probe'), now);
  }
  return { minutes, end: recovery };
}

it('probes an endpoint after 5 and 15 minutes, then every 30 minutes, and stops after five days', () => {
  const { minutes, end } = failAll(probing);
  expect(minutes.slice(0, 5)).toEqual([5, 20, 50, 80, 110]);
  expect(minutes.at(-1)).toBeLessThanOrEqual(5 * 24 * 60);
  expect(minutes.at(-1)).toBeGreaterThan(5 * 24 * 60 - 30);
  expect(end).toMatchObject({ state: 'STOPPED', stopReason: 'days', dueAt: null });
});

it('stops if a probe comes due after the five days, because no worker ran before', () => {
  const late = new Date(START.getTime() + 5 * DAY_MS + 1);
  expect(nextStepOf(probing, null, late)).toBe('stop');
});

it('begins to probe as soon as a delivery was given up, and waits until the probe is due', () => {
  expect(nextStepOf(missing, null, START)).toBe('begin');
  expect(nextStepOf(probing, null, later(4))).toBe('wait');
  expect(nextStepOf(sendProbe(probing, 'probe'), null, later(60))).toBe('wait');
});

it('recovers at a success during the probing, and not at an earlier one', () => {
  expect(nextStepOf(probing, later(1), later(2))).toBe('recover');
  expect(nextStepOf(probing, START, later(2))).toBe('wait');
  // A probe under way ends first, because its delivery is not to be sent twice.
  expect(nextStepOf(sendProbe(probing, 'probe'), later(1), later(2))).toBe('wait');
});

it('waits while a round runs, while the endpoint is inactive, and after it has stopped', () => {
  const inactive = { ...missing, dueAt: null };
  const stopped = failAll(probing).end;
  for (const recovery of [recovering, inactive, stopped])
    expect(nextStepOf(recovery, later(1), later(10_000))).toBe('wait');
});

it('is healthy after a round that delivered everything, if nothing was missed meanwhile', () => {
  expect(endRound(recovering, true, later(9))).toBeNull();
  const missedAgain = endRound({ ...recovering, misses: recovering.misses + 1 }, true, later(9));
  expect(missedAgain).toMatchObject({ state: 'PROBING', probes: 0, dueAt: later(14) });
});

it('probes again after a round that failed, and stops after three rounds', () => {
  let recovery = probing;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    expect(recovery.state).toBe('PROBING');
    const begun = beginRound(recovery, `round ${round}`);
    expect(begun).toMatchObject({ state: 'RECOVERING', rounds: round, dueAt: null });
    recovery = endRound(begun, false, later(round))!;
  }
  expect(recovery).toMatchObject({ state: 'STOPPED', stopReason: 'rounds', recoveryId: null });
  expect(beginRound({ ...probing, rounds: MAX_ROUNDS }, 'fourth')).toMatchObject({ state: 'STOPPED' });
});
