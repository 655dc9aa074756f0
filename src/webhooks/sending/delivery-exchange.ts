import type { IncomingHttpHeaders } from 'node:http';
import { Dispatcher } from 'undici';
import { AttemptFault, AttemptOutcome, faultOfError, faultOfStatus } from './attempt-outcome';
import { StartPermit, StartRefused } from './start-permit';
import { ConnectionSetup, timeoutMessage, VettedConnector } from './vetted-connector';

export const MAX_RESPONSE_BYTES = 16 * 1024;
export const MAX_HEADERS_LENGTH = 2 * 1024;

/** Names of headers that may give access to the receiver, such as `set-cookie` or `x-auth-token`. */
const SECRET_HEADER =
  /cookie|authorization|token|secret|password|credential|session|api[-_]?key|(?:^|[-_])(?:auth|jwt|key|sid)$/;

/**
 * One POST and its response, as undici reports them. It ends with the response, an error or the timeout. One
 * timer covers everything from the lookup on; undici's own timers are off.
 */
export class DeliveryExchange implements Dispatcher.DispatchHandler {
  /** Outcome of the exchange; null if nothing may be sent any more. It rejects only for an internal error. */
  readonly outcome: Promise<AttemptOutcome | null>;

  private readonly setup: ConnectionSetup;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private resolve!: (outcome: AttemptOutcome | null) => void;
  private reject!: (error: Error) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private ended = false;
  private statusCode: number | null = null;
  private firstByteMs: number | null = null;
  private headers: IncomingHttpHeaders | null = null;
  private chunks: Buffer[] = [];
  private size = 0;

  /**
   * Starts the timer of an exchange.
   * @param keepsHeaders whether the response's headers are kept for a success too
   */
  constructor(
    private readonly at: Date,
    timeoutMs: number,
    private readonly connector: VettedConnector,
    private readonly permit?: StartPermit,
    private readonly keepsHeaders = false,
  ) {
    this.setup = new ConnectionSetup(this.startedAt + timeoutMs, permit);
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.timer = setTimeout(() => this.expire(), timeoutMs);
  }

  /**
   * Starts the exchange by `dispatch`, which must pass a request for `host`, with this exchange as its
   * handler, to undici.
   */
  begin(host: string, dispatch: () => void): void {
    this.connector.observe(this.setup, host, dispatch);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.connector.release(this.setup);
    // The attempt ended before the connection was ready.
    if (this.ended) return controller.abort(new Error('The attempt is over'));
    // undici then writes nothing, and keeps the connection.
    if (this.permit?.isOver()) throw new StartRefused();
    this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.ended || statusCode < 200) return;
    this.statusCode = statusCode;
    this.headers = headers;
    this.firstByteMs = performance.now() - this.startedAt;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    const remaining = MAX_RESPONSE_BYTES - this.size;
    if (remaining > 0) this.chunks.push(chunk.subarray(0, remaining));
    this.size += chunk.length;
    if (chunk.length > remaining) this.endEarly();
  }

  onResponseEnd(): void {
    this.endWithAnswer();
  }

  onResponseError(_controller: unknown, error: Error): void {
    // The status decides; the body may be incomplete.
    if (this.statusCode === null) this.endWithError(error);
    else this.endWithAnswer();
  }

  /** Ends the exchange with an error that occurred before undici had the request. */
  endWithError(error: Error): void {
    if (this.ended) return;
    if (error instanceof StartRefused) {
      this.close();
      return afterConnectionIsFree(() => this.resolve(null));
    }
    const fault = faultOfError(error);
    if (fault) return this.end(fault);
    this.close();
    this.reject(error);
  }

  private expire(): void {
    if (this.statusCode !== null) return this.endEarly();
    // Without a stage, the request used a kept connection.
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

  /** Drops the connection, because one with an unread response can't be reused. */
  private dropConnection(): void {
    this.controller?.abort(new Error('The attempt is over'));
  }

  private describe(fault: AttemptFault | null): AttemptOutcome {
    const { lookupMs, connectMs, tlsMs } = this.setup;
    const attempt = {
      at: this.at,
      durationMs: Math.round(performance.now() - this.startedAt),
      // Copied: a slice would keep the whole read buffer in memory.
      response: this.statusCode === null ? null : Buffer.concat(this.chunks),
      // Few look at those of a success, and with them a delivery took 975 bytes on disk instead of 893.
      responseHeaders: this.headers && (fault || this.keepsHeaders) ? linesOf(this.headers) : null,
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
 * Calls back when undici has freed the connection, which it does in a `setImmediate` after it reports the
 * response's end. A caller that sends again at once must find that connection free.
 */
function afterConnectionIsFree(callback: () => void): void {
  process.nextTick(() => setImmediate(callback));
}

/**
 * Returns the headers, a line each, without secret ones, cut to MAX_HEADERS_LENGTH characters, without NULs,
 * which PostgreSQL rejects in text.
 */
function linesOf(headers: IncomingHttpHeaders): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (SECRET_HEADER.test(name.toLowerCase())) continue;
    for (const one of Array.isArray(value) ? value : [value ?? '']) lines += `${name}: ${one}\n`;
    if (lines.length > MAX_HEADERS_LENGTH) break;
  }
  return lines.slice(0, MAX_HEADERS_LENGTH).replaceAll('\0', ' ').toWellFormed();
}

function tenths(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
