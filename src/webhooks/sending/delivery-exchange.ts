import { startDeadline } from '../../common/deadlines';
import { AttemptFault, AttemptOutcome, faultOfError, faultOfStatus } from './attempt-outcome';
import { AnswerHandler, AnswerHead, headersOfAnswer, PostRequest, sendPost } from './http-post';
import { ReceiverConnection } from './receiver-connection';
import { StartPermit, StartRefused, ConnectionSetup, timeoutMessage } from '../../outgoing/vetted-connector';

export const MAX_RESPONSE_BYTES = 16 * 1024;
const MAX_HEADERS_LENGTH = 2 * 1024;
/** Names of headers that are stored before all others, because they say how to decode the body. */
const HEADERS_OF_BODY = new Set(['content-encoding', 'content-type']);

/** Names of headers that may give access to the receiver, such as `set-cookie` or `x-auth-token`. */
const SECRET_HEADER =
  /cookie|authorization|token|secret|password|credential|session|api[-_]?key|(?:^|[-_])(?:auth|jwt|key|sid)$/;

/** Stores a connection for another request, for `keepMs` milliseconds; null for the default time. */
export type Keep = (connection: ReceiverConnection, keepMs: number | null) => void;

/**
 * Makes one POST to an endpoint and reads its response. It ends with the response, an error or the timeout.
 * One timeout covers all steps from the DNS lookup to the end of the response.
 */
export class DeliveryExchange implements AnswerHandler {
  /** Null if the permission to begin ended before the request. Rejects only for an internal error. */
  readonly outcome: Promise<AttemptOutcome | null>;
  readonly setup: ConnectionSetup;

  private readonly startedAt = performance.now();
  private readonly endTimeout: () => void;
  private resolve!: (outcome: AttemptOutcome | null) => void;
  private reject!: (error: Error) => void;
  private connection: ReceiverConnection | null = null;
  private keep: Keep | null = null;
  private sendAgain: (() => void) | null = null;
  private ended = false;
  private statusCode: number | null = null;
  private firstByteMs: number | null = null;
  private head: AnswerHead | null = null;
  private chunks: Buffer[] = [];
  private size = 0;

  /** Starts the timeout. `keepsHeaders`: whether the outcome of a success contains the response headers. */
  constructor(
    private readonly at: Date,
    timeoutMs: number,
    private readonly permit?: StartPermit,
    private readonly keepsHeaders = false,
  ) {
    this.setup = new ConnectionSetup(this.startedAt + timeoutMs, permit);
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.endTimeout = startDeadline(timeoutMs, () => this.expire());
  }

  /**
   * Sends the request, unless the attempt has ended.
   * @param keep stores the connection when it can carry another request
   * @param sendAgain sends the request on a new connection, if the receiver has closed this one without an
   *   answer
   */
  send(connection: ReceiverConnection, post: PostRequest, keep: Keep, sendAgain: () => void): void {
    if (this.ended) return connection.destroy();
    if (this.permit?.isOver()) {
      keep(connection, null);
      return this.endWithError(new StartRefused());
    }
    this.connection = connection;
    this.keep = keep;
    this.sendAgain = sendAgain;
    sendPost(connection, post, this);
  }

  onHead(head: AnswerHead): void {
    if (this.ended) return;
    this.head = head;
    this.statusCode = head.statusCode!;
    this.firstByteMs = performance.now() - this.startedAt;
  }

  onData(chunk: Buffer): void {
    if (this.ended) return;
    const remaining = MAX_RESPONSE_BYTES - this.size;
    if (remaining > 0) this.chunks.push(chunk.subarray(0, remaining));
    this.size += chunk.length;
    if (chunk.length > remaining) this.endWithAnswer();
  }

  onEnd(keepMs: number | null): void {
    if (this.ended) return;
    if (keepMs !== 0 && this.connection) {
      this.keep?.(this.connection, keepMs);
      this.connection = null;
    }
    this.endWithAnswer();
  }

  onError(error: Error): void {
    if (this.ended) return;
    // The status alone decides the outcome, even if the body is incomplete.
    if (this.statusCode !== null) return this.endWithAnswer();
    if (!this.connection?.isSilentAgain) return this.endWithError(error);
    this.connection.destroy();
    this.connection = null;
    this.sendAgain?.();
  }

  endWithError(error: Error): void {
    if (this.ended) return;
    if (error instanceof StartRefused) {
      this.close();
      return this.resolve(null);
    }
    const fault = faultOfError(error);
    if (fault) return this.end(fault);
    this.close();
    this.reject(error);
  }

  private expire(): void {
    if (this.statusCode !== null) return this.endWithAnswer();
    // The stage is null on a kept connection, because it needs no setup.
    this.end({ error: 'timeout', errorMessage: timeoutMessage(this.setup.stage ?? 'ready') });
  }

  private endWithAnswer(): void {
    if (this.statusCode !== null) this.end(faultOfStatus(this.statusCode));
  }

  private end(fault: AttemptFault | null): void {
    if (this.ended) return;
    this.close();
    this.resolve(this.describe(fault));
    this.chunks = [];
  }

  /** Ends the exchange, and closes its connection unless the connection was kept for another request. */
  private close(): void {
    this.ended = true;
    this.endTimeout();
    this.connection?.destroy();
  }

  private describe(fault: AttemptFault | null): AttemptOutcome {
    const { lookupMs, connectMs, tlsMs } = this.setup;
    const attempt = {
      at: this.at,
      durationMs: Math.round(performance.now() - this.startedAt),
      // The chunks are copied, because a slice would keep the whole read buffer in memory.
      response: this.statusCode === null ? null : Buffer.concat(this.chunks),
      // Few people look at the headers of a success, so they are not stored: they take 82 bytes on disk.
      responseHeaders: this.head && (fault || this.keepsHeaders) ? linesOf(this.head) : null,
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
 * Returns the response headers, one `name: value` a line, cut to MAX_HEADERS_LENGTH characters. It leaves out
 * secret headers, and replaces NULs, because PostgreSQL rejects them in text.
 */
function linesOf(head: AnswerHead): string {
  let lines = '';
  const headers = headersOfAnswer(head);
  const first = headers.filter(([name]) => HEADERS_OF_BODY.has(name));
  const others = headers.filter(([name]) => !HEADERS_OF_BODY.has(name));
  for (const [name, value] of [...first, ...others]) {
    if (!SECRET_HEADER.test(name)) lines += `${name}: ${value}\n`;
    if (lines.length > MAX_HEADERS_LENGTH) break;
  }
  return lines.slice(0, MAX_HEADERS_LENGTH).replaceAll('\0', ' ').toWellFormed();
}

function tenths(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
