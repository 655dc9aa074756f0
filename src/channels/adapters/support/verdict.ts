/** Outcome of an attempt for which a provider's error code stands. */
export type Verdict =
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  | { kind: 'TERMINAL' | 'WINDOW' | 'REAUTH' };

/**
 * Verdicts by error code, such as `131047`, or by code and subcode, such as `10/2018278`, which goes before
 * the bare code.
 */
export type Verdicts = Readonly<Record<string, Verdict>>;

export const RETRY: Verdict = { kind: 'RETRY' };
export const TERMINAL: Verdict = { kind: 'TERMINAL' };
export const WINDOW: Verdict = { kind: 'WINDOW' };
export const REAUTH: Verdict = { kind: 'REAUTH' };
