import { reasonOf } from '../chaos/client';
import { letTimePass } from '../support/wait';

/** Pause before a request is sent again, as in client libraries. */
const PAUSE_MS = 500;

interface Answered {
  status: number;
}

/** Sends a request once more when it got no answer, or a 5xx, as client libraries do. */
export class RetryingCaller {
  answered = 0;
  /** Requests that were sent again. */
  readonly retries: { at: number; reason: string }[] = [];
  /** Requests that failed the second time too. */
  readonly failures: string[] = [];

  /**
   * Sends a request, and repeats it once.
   * @returns null when it failed
   */
  async call<Answer extends Answered>(what: string, send: () => Promise<Answer>): Promise<Answer | null> {
    const first = await this.try(send);
    if (typeof first !== 'string') return first;
    this.retries.push({ at: Date.now(), reason: `${what}: ${first}` });
    await letTimePass(PAUSE_MS);
    const second = await this.try(send);
    if (typeof second !== 'string') return second;
    this.failures.push(`${what}: ${first}; then ${second}`);
    return null;
  }

  /**
   * Sends a request.
   * @returns the answer, or the reason for which it is no success
   */
  private async try<Answer extends Answered>(send: () => Promise<Answer>): Promise<Answer | string> {
    try {
      const answer = await send();
      if (answer.status >= 300) return `answered with ${answer.status}`;
      this.answered += 1;
      return answer;
    } catch (error) {
      return reasonOf(error);
    }
  }
}
