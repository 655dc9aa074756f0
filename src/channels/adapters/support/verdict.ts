/** The outcome that an error code stands for. */
export type Verdict =
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  | { kind: 'TERMINAL' | 'WINDOW' | 'REAUTH' };

/** By code: `"131047"`, or with a subcode `"10/2018278"`, which has precedence over the bare code. */
export type Verdicts = Readonly<Record<string, Verdict>>;
