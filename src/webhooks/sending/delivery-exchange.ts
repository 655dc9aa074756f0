import { Dispatcher } from 'undici';
import { AttemptFault, AttemptOutcome, faultOfError, faultOfStatus } from './attempt-outcome';
import { ConnectionSetup, timeoutMessage, VettedConnector } from './vetted-connector';

/** Of an answer no more is kept, nor read. */
export const MAX_RESPONSE_BYTES = 16 * 1024;

/**
 * One POST and its answer, as undici reports them: ends with the answer, an error or the time limit,
 * whichever comes first, and then lets go of the connection. One timer covers everything: it starts
 * before the lookup, and undici's own are off.
 */
export class DeliveryExchange implements Dispatcher.DispatchHandler {
  /** Rejects only for a fault of our own. */
  readonly outcome: Promise<AttemptOutcome>;

  private readonly setup: ConnectionSetup;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private resolve!: (outcome: AttemptOutcome) => void;
  private reject!: (error: Error) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private ended = false;
  private statusCode: number | null = null;
  private firstByteMs: number | null = null;
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly at: Date,
    timeoutMs: number,
    private readonly connector: VettedConnector,
  ) {
    this.setup = new ConnectionSetup(this.startedAt + timeoutMs);
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.timer = setTimeout(() => this.expire(), timeoutMs);
  }

  /** Calls `dispatch`, which hands a request for `host` and this exchange to undici. */
  begin(host: string, dispatch: () => void): void {
    this.connector.observe(this.setup, host, dispatch);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.connector.release(this.setup);
    // The connection came too late: nothing may be sent any more.
    if (this.ended) controller.abort(new Error('The attempt is over'));
    else this.controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (this.ended || statusCode < 200) return;
    this.statusCode = statusCode;
    this.firstByteMs = performance.now() - this.startedAt;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    const room = MAX_RESPONSE_BYTES - this.size;
    if (room > 0) this.chunks.push(chunk.subarray(0, room));
    this.size += chunk.length;
    if (chunk.length > room) this.endEarly();
  }

  onResponseEnd(): void {
    this.endWithAnswer();
  }

  onResponseError(_controller: unknown, error: Error): void {
    // Once the head has arrived it decides; the body was a courtesy.
    if (this.statusCode === null) this.endWithError(error);
    else this.endWithAnswer();
  }

  /** For what fails before undici has anything to do with it. */
  endWithError(error: Error): void {
    if (this.ended) return;
    const fault = faultOfError(error);
    if (fault) return this.end(fault);
    this.close();
    this.reject(error);
  }

  private expire(): void {
    if (this.statusCode !== null) return this.endEarly();
    // No stage: the request went out on a connection that was there already.
    this.end({ error: 'timeout', errorMessage: timeoutMessage(this.setup.stage ?? 'ready') });
    this.dropConnection();
  }

  private endEarly(): void {
    this.endWithAnswer();
    this.dropConnection();
  }

  private endWithAnswer(): void {
    if (this.statusCode !== null) this.end(faultOfStatus(this.statusCode));
  }

  private end(fault: AttemptFault | null): void {
    if (this.ended) return;
    this.close();
    const outcome = this.describe(fault);
    this.chunks = [];
    afterConnectionIsFree(() => this.resolve(outcome));
  }

  private close(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.connector.release(this.setup);
  }

  /** An answer not read to its end leaves a connection that can't be used again. */
  private dropConnection(): void {
    this.controller?.abort(new Error('The attempt is over'));
  }

  private describe(fault: AttemptFault | null): AttemptOutcome {
    const { lookupMs, connectMs, tlsMs } = this.setup;
    const attempt = {
      at: this.at,
      durationMs: Math.round(performance.now() - this.startedAt),
      // Copied, so that a few bytes don't keep the whole read buffer alive.
      response: this.statusCode === null ? null : Buffer.concat(this.chunks),
      phases: {
        lookupMs: tenths(lookupMs),
        connectMs: tenths(connectMs),
        tlsMs: tenths(tlsMs),
        firstByteMs: tenths(this.firstByteMs),
      },
    };
    if (fault) return { kind: 'failed', ...attempt, statusCode: this.statusCode, ...fault };
    return {
      kind: 'succeeded',
      ...attempt,
      statusCode: this.statusCode as number,
      error: null,
      errorMessage: null,
    };
  }
}

/**
 * undici takes a connection back in a `setImmediate` that it sets just after it reports the answer's end.
 * Whoever sends again as soon as it has the outcome should find that connection, not open another.
 */
function afterConnectionIsFree(callback: () => void): void {
  process.nextTick(() => setImmediate(callback));
}

function tenths(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
