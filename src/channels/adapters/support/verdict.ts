/** The outcome that a provider's error code stands for. */
export type Verdict =
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  | { kind: 'TERMINAL' | 'WINDOW' | 'REAUTH' };

/** Verdicts by error code: `131047`, or with a subcode `10/2018278`, which goes before the bare code. */
export type Verdicts = Readonly<Record<string, Verdict>>;

export const RETRY: Verdict = { kind: 'RETRY' };
export const TERMINAL: Verdict = { kind: 'TERMINAL' };
export const WINDOW: Verdict = { kind: 'WINDOW' };
export const REAUTH: Verdict = { kind: 'REAUTH' };
