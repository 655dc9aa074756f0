import { errorOf, parseJson } from './answers.ts';
import type { ApiPath, OperationId } from './api-types.ts';
import { ConnectionError, type MessagingError, TimeoutError } from './errors.ts';
import type { AnswerOf, BodyOf, QueryOf } from './operation-types.ts';
import type { Attempt, CallOptions, ClientOptions, CreateOptions } from './options.ts';
import { PagedList, type Page } from './pages.ts';
import { type RateLimit, readRateLimit } from './rate-limits.ts';
import { retryDelayMs } from './retries.ts';
import { VERSION } from './version.ts';

const DEFAULT_MAX_RETRIES = 4;
const DEFAULT_ATTEMPT_TIMEOUT_MS = 20_000;
const DEFAULT_TIMEOUT_MS = 90_000;
/** Maximum duration of a call that sends or returns a file, by default. */
const FILE_TIMEOUT_MS = 1_800_000;

/** Bytes of a file. A stream could not be sent again if the first attempt fails. */
export type FileContent = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

export interface Call<Id extends OperationId = OperationId> {
  operation: Id;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: ApiPath;
  /** Value for `{id}` in the path. */
  id?: string;
  query?: QueryOf<Id>;
  body?: BodyOf<Id>;
  /** Body that is no JSON: a file, or a form with one. */
  content?: FileContent | FormData;
  /** Whether the answer is a file. */
  returnsFile?: boolean;
  /** Whether the client sends an `Idempotency-Key`, so that it may repeat the request. */
  takesKey?: boolean;
}

type PagedListOf<Answer> = Answer extends Page<infer Row> ? PagedList<Row, Answer> : never;

interface Outcome {
  answer?: unknown;
  error: MessagingError | null;
  headers?: Headers;
  status: number | null;
}

/** Sends requests to the API, parses the responses, and repeats failed requests that are safe to repeat. */
export class Transport {
  readonly rateLimits = new Map<ApiPath, RateLimit>();
  readonly #options: ClientOptions;
  readonly #baseUrl: string;

  constructor(options: ClientOptions) {
    // The error messages contain no value, because an API key must not appear in a log.
    if (!/^[\x21-\x7e]+$/.test(options.apiKey ?? ''))
      throw new TypeError('apiKey must be an API key of the service: plk_… without blanks.');
    if (!/^https?:\/\/[^/?#]/.test(options.baseUrl ?? ''))
      throw new TypeError('baseUrl must be the address of the service, such as https://chat.example.com.');
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    if (this.#baseUrl.endsWith('/api/v1'))
      throw new TypeError('baseUrl must be the address of the service, without /api/v1.');
  }

  /** Returns a list that calls the operation once for each page. */
  list<Id extends OperationId>(
    call: Call<Id>,
    query: QueryOf<Id> | undefined,
    options?: CallOptions,
  ): PagedListOf<AnswerOf<Id>> {
    const read = (cursor?: string) =>
      this.send({ ...call, query: cursor ? { ...query, cursor } : query }, options);
    return new PagedList(read as () => Promise<Page<unknown>>) as PagedListOf<AnswerOf<Id>>;
  }

  /**
   * Performs an operation with retries, and returns the response's body.
   * @throws ApiError the service refused the request
   * @throws ConnectionError, TimeoutError no response arrived
   */
  async send<Id extends OperationId>(call: Call<Id>, options: CreateOptions = {}): Promise<AnswerOf<Id>> {
    const { maxRetries = DEFAULT_MAX_RETRIES, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const url = this.#urlOf(call);
    const headers = this.#headersOf(call, options);
    const isRepeatable = call.method !== 'POST' || headers.has('idempotency-key');
    const isOfFile = call.content !== undefined || call.returnsFile;
    const deadline = Date.now() + (options.timeoutMs ?? (isOfFile ? FILE_TIMEOUT_MS : timeoutMs));

    for (let attempt = 1; ; attempt++) {
      const startedAt = Date.now();
      const outcome = await this.#attempt(url, call, headers, deadline, options.signal);
      // An earlier attempt has deleted the row, but its response was lost. So this 404 is a success.
      if (call.method === 'DELETE' && attempt > 1 && outcome.status === 404) outcome.error = null;
      const delayMs =
        outcome.error && attempt <= maxRetries ? retryDelayMs(outcome.error, attempt, isRepeatable) : null;
      const retryInMs = delayMs !== null && Date.now() + delayMs < deadline ? delayMs : null;
      this.#report(call, outcome, { attempt, durationMs: Date.now() - startedAt, retryInMs });
      if (!outcome.error) return outcome.answer as AnswerOf<Id>;
      if (retryInMs === null) throw outcome.error;
      await pause(retryInMs, options.signal);
    }
  }

  /**
   * Performs an operation that returns a file, with retries.
   * @throws as `send`
   */
  async download<Id extends OperationId>(call: Call<Id>, options?: CallOptions): Promise<Blob> {
    return (await this.send({ ...call, returnsFile: true }, options)) as Blob;
  }

  /** Sends a request once. Returns failures in the outcome, and throws only the abort reason of `signal`. */
  async #attempt(
    url: string,
    { method, body, content, returnsFile }: Call,
    headers: Headers,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const { attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS, fetch: send = fetch } = this.#options;
    signal?.throwIfAborted();
    const timer = new AbortController();
    const longestMs = content !== undefined || returnsFile ? FILE_TIMEOUT_MS : attemptTimeoutMs;
    const timeoutMs = Math.max(0, Math.min(longestMs, deadline - Date.now()));
    const timeout = setTimeout(() => timer.abort(), timeoutMs);
    const abort = () => timer.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const response = await send(url, {
        method,
        headers,
        body: content ?? (body && JSON.stringify(body)),
        // A redirect could send the API key to another server.
        redirect: 'manual',
        signal: timer.signal,
      });
      if (response.ok && returnsFile)
        return {
          answer: await response.blob(),
          error: null,
          headers: response.headers,
          status: response.status,
        };
      return readOutcome(response, await response.text());
    } catch (cause) {
      signal?.throwIfAborted();
      const error = timer.signal.aborted
        ? new TimeoutError(`No answer arrived within ${timeoutMs} ms.`)
        : new ConnectionError('The service could not be reached, or the connection broke.', { cause });
      return { error, status: null };
    } finally {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', abort);
    }
  }

  #urlOf({ path, id, query = {} }: Call): string {
    const url = new URL(this.#baseUrl + (id === undefined ? path : path.replace('{id}', pathSegment(id))));
    for (const [name, value] of Object.entries(query) as [string, string | number | boolean | undefined][])
      if (value !== undefined) url.searchParams.set(name, String(value));
    return url.href;
  }

  #headersOf(
    { body, content, takesKey, returnsFile }: Call,
    { idempotencyKey, requestId }: CreateOptions,
  ): Headers {
    const headers = new Headers({
      accept: returnsFile ? '*/*' : 'application/json',
      authorization: `Bearer ${this.#options.apiKey}`,
      'user-agent': `conversation-messaging-client-js/${VERSION}`,
    });
    if (body) headers.set('content-type', 'application/json');
    // `fetch` sets the type of a form, with the boundary of its parts.
    if (content !== undefined && !(content instanceof FormData))
      headers.set('content-type', 'application/octet-stream');
    if (takesKey) headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
    if (requestId !== undefined) headers.set('x-request-id', requestId);
    return headers;
  }

  #report(
    { operation, method, path }: Call,
    { error, headers, status }: Outcome,
    progress: Pick<Attempt, 'attempt' | 'durationMs' | 'retryInMs'>,
  ): void {
    const rateLimit = headers ? readRateLimit(headers) : null;
    if (rateLimit) this.rateLimits.set(path, rateLimit);
    this.#options.onAttempt?.({
      operation,
      method,
      path,
      ...progress,
      status,
      requestId: headers?.get('x-request-id') ?? null,
      isReplayed: headers?.get('idempotency-replayed') === 'true',
      rateLimit,
      error,
    });
  }
}

function readOutcome(response: Response, text: string): Outcome {
  const { headers, status } = response;
  if (!response.ok) return { error: errorOf(response, text), headers, status };
  const answer = text === '' ? undefined : parseJson(text);
  if (text !== '' && answer === undefined) return { error: errorOf(response, text), headers, status };
  return { answer, error: null, headers, status };
}

/**
 * Encodes an id as one segment of a path. Throws a TypeError for an empty id, `.` and `..`, because the path
 * with such an id would lead to another route.
 */
function pathSegment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id))
    throw new TypeError('An id must be a string, and not empty.');
  return encodeURIComponent(id);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
