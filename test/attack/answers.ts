/** Checks the form of an error. */
export interface ErrorCheck {
  /** Throws an error when an answer does not have the documented form. */
  checkError(what: string, answer: AttackAnswer): void;
}

export interface AttackAnswer {
  status: number;
  headers: Record<string, string>;
  /** Body of the answer, parsed if it is JSON. */
  body: any;
}

const SHOWN = 20;

/** Answers to the attacker: counts, and complaints about answers that must not happen. */
export class Answers {
  /** Numbers of answers by status or, without an answer, by how the connection ended. */
  private counts = new Map<string, number>();
  readonly complaints: string[] = [];

  constructor(private readonly contract: ErrorCheck) {}

  /**
   * Counts an answer. An error must have the documented form; of the statuses above 499 only 503 is expected.
   */
  add(what: string, answer: AttackAnswer): void {
    this.count(String(answer.status));
    if (answer.status < 400) return;
    try {
      this.contract.checkError(`${what} was answered with ${answer.status}`, answer);
      if (answer.status > 499 && answer.status !== 503)
        throw new Error(`${what} was answered with ${answer.status}`);
      if ([429, 503].includes(answer.status) && !answer.headers['retry-after'])
        throw new Error(`${what} was answered with ${answer.status} without Retry-After`);
    } catch (error) {
      this.complain((error as Error).message);
    }
  }

  count(outcome: string, times = 1): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + times);
  }

  /** Records a complaint. Only the first SHOWN complaints are kept for the report. */
  complain(complaint: string): void {
    if (this.complaints.length < SHOWN) this.complaints.push(complaint);
  }

  /** Returns the counts since the last call, as `401 ×120, 429 ×4000`. */
  take(): string {
    const text = [...this.counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([outcome, times]) => `${outcome} ×${times}`)
      .join(', ');
    this.counts = new Map();
    return text;
  }

  countOf(outcome: string): number {
    return this.counts.get(outcome) ?? 0;
  }
}
