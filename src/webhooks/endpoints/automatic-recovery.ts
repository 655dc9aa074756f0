/**
 * State of an endpoint that has missed events and is recovered automatically. A healthy endpoint has none.
 * MISSING: a delivery was given up, and nothing was tried yet, or the endpoint is inactive. PROBING: its
 * oldest missed event is sent from time to time. RECOVERING: a round sends the missed events. STOPPED: its
 * owner has to act.
 */
export const AUTOMATIC_STATES = ['MISSING', 'PROBING', 'RECOVERING', 'STOPPED'] as const;
export type AutomaticState = (typeof AUTOMATIC_STATES)[number];

/** Reasons why an automatic recovery stops: three rounds have ended, or no probe succeeded for five days. */
export const STOP_REASONS = ['rounds', 'days'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface AutomaticRecovery {
  tenantId: string;
  endpointId: string;
  state: AutomaticState;
  /** Time of the oldest event that the endpoint has missed. Each round begins there. */
  since: Date;
  /** Number of times that deliveries were given up, and that number at the start of the latest round. */
  misses: number;
  missesSeen: number;
  rounds: number;
  /** Number of probes since `probingSince`. */
  probes: number;
  probingSince: Date | null;
  /** Probe or round that is under way. */
  recoveryId: string | null;
  /** Id of the event after which the search for the oldest missed event goes on; null at its start. */
  cursor: string | null;
  stopReason: StopReason | null;
  /** Time of the next step; null while none is due. */
  dueAt: Date | null;
}

const MINUTE_MS = 60_000;
/** Milliseconds before each of the first probes. The last value applies to all further ones. */
const PROBE_WAITS_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS];
export const PROBING_FOR_MS = 5 * 24 * 60 * MINUTE_MS;
export const MAX_ROUNDS = 3;
/** Number of failures without a success between them at which a round ends. */
export const MAX_FAILED_IN_ROW = 10;

export type NextStep = 'begin' | 'probe' | 'recover' | 'stop' | 'wait';

/** Returns the next step for an endpoint that last succeeded at `lastSuccessAt`. */
export function nextStepOf(
  { state, probingSince, recoveryId, dueAt }: AutomaticRecovery,
  lastSuccessAt: Date | null,
  now: Date,
): NextStep {
  const isDue = dueAt !== null && dueAt <= now;
  if (state === 'MISSING') return isDue ? 'begin' : 'wait';
  if (state !== 'PROBING' || recoveryId !== null) return 'wait';
  if (lastSuccessAt !== null && lastSuccessAt > probingSince!) return 'recover';
  if (!isDue) return 'wait';
  return now.getTime() - probingSince!.getTime() > PROBING_FOR_MS ? 'stop' : 'probe';
}

export function beginProbing(recovery: AutomaticRecovery, now: Date): AutomaticRecovery {
  const fresh = { probes: 0, probingSince: now, recoveryId: null, cursor: null, stopReason: null };
  return { ...recovery, ...fresh, state: 'PROBING', dueAt: after(now, probeWaitMs(0)) };
}

export function sendProbe(recovery: AutomaticRecovery, recoveryId: string): AutomaticRecovery {
  return { ...recovery, recoveryId, probes: recovery.probes + 1, cursor: null, dueAt: null };
}

/** Returns the state after a failed probe: the next one is scheduled, or five days have passed. */
export function failProbe(recovery: AutomaticRecovery, now: Date): AutomaticRecovery {
  const waiting = { ...recovery, recoveryId: null, dueAt: after(now, probeWaitMs(recovery.probes)) };
  const endsAt = after(recovery.probingSince!, PROBING_FOR_MS);
  return waiting.dueAt > endsAt ? stop(waiting, 'days') : waiting;
}

/** Returns the state in which a new round runs, or in which the owner has to act after three rounds. */
export function beginRound(recovery: AutomaticRecovery, recoveryId: string): AutomaticRecovery {
  if (recovery.rounds >= MAX_ROUNDS) return stop(recovery, 'rounds');
  const begun = { recoveryId, missesSeen: recovery.misses, rounds: recovery.rounds + 1 };
  return { ...recovery, ...begun, state: 'RECOVERING', probingSince: null, cursor: null, dueAt: null };
}

/**
 * Returns the state after a round; null if the endpoint is healthy.
 * @param isComplete whether all deliveries of the round have succeeded
 */
export function endRound(
  recovery: AutomaticRecovery,
  isComplete: boolean,
  now: Date,
): AutomaticRecovery | null {
  if (isComplete && recovery.misses === recovery.missesSeen) return null;
  return recovery.rounds >= MAX_ROUNDS ? stop(recovery, 'rounds') : beginProbing(recovery, now);
}

export function stop(recovery: AutomaticRecovery, stopReason: StopReason): AutomaticRecovery {
  return { ...recovery, state: 'STOPPED', stopReason, recoveryId: null, cursor: null, dueAt: null };
}

function probeWaitMs(probes: number): number {
  return PROBE_WAITS_MS[Math.min(probes, PROBE_WAITS_MS.length - 1)]!;
}

function after(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}
