import {
  AutomaticRecovery,
  AutomaticState,
  PROBING_FOR_MS,
  StopReason,
} from '../endpoints/automatic-recovery';

/** State of the automatic recovery of an endpoint that has missed events. */
export interface AutomaticRecoverySummary {
  endpointId: string;
  /**
   * `missing` until the first probe is scheduled, and while the endpoint is inactive after its failures.
   * `stopped`: its owner has to act.
   */
  state: Lowercase<AutomaticState>;
  /** Time of the oldest event that was missed. */
  since: Date;
  /** Number of probes since the endpoint was last seen to fail. */
  probes: number;
  /** Time of the next probe; null while none is scheduled. */
  nextProbeAt: Date | null;
  /** Time at which probing ends; null unless the endpoint is probed. */
  probesUntil: Date | null;
  /** Number of rounds so far, 3 at most. */
  rounds: number;
  /** `rounds`: three rounds did not deliver everything. `days`: no probe succeeded for five days. */
  stopReason: StopReason | null;
}

export function toAutomaticSummary(recovery: AutomaticRecovery): AutomaticRecoverySummary {
  const { endpointId, state, since, probes, probingSince, rounds, stopReason, dueAt } = recovery;
  const isProbing = state === 'PROBING';
  return {
    endpointId,
    state: state.toLowerCase() as Lowercase<AutomaticState>,
    since,
    probes,
    nextProbeAt: isProbing ? dueAt : null,
    probesUntil: isProbing ? new Date(probingSince!.getTime() + PROBING_FOR_MS) : null,
    rounds,
    stopReason,
  };
}
