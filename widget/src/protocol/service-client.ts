const TIMEOUT_MS = 20_000;

/** Error of a request: the service answered with an error, or (status 0) did not answer. */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** Returns the status of the answer that an error is; 0 without an answer. */
export const statusOf = (error: unknown): number => (error instanceof ServiceError ? error.status : 0);

/** Reports whether neither waiting nor a new token helps. */
export const isRefusal = (error: unknown): boolean => [401, 403, 404].includes(statusOf(error));

/** Returns the milliseconds of the `Retry-After` of an error; 0 without one. */
export const retryAfterMsOf = (error: unknown): number =>
  error instanceof ServiceError ? error.retryAfterMs : 0;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Call {
  token?: string | null;
  body?: object;
}

/** Calls the routes of one widget. */
export class ServiceClient {
  constructor(
    private readonly fetch: typeof globalThis.fetch,
    private readonly serviceUrl: string,
  ) {}

  async call<Answer>(method: Method, path: string, call: Call = {}): Promise<Answer> {
    try {
      const response = await this.request(method, path, call, AbortSignal.timeout(TIMEOUT_MS));
      // The answer may be empty.
      return (response.status === 204 ? null : await response.json()) as Answer;
    } catch (error) {
      throw error instanceof ServiceError ? error : new ServiceError(0, String(error));
    }
  }

  /** Opens a stream. Its body goes on until the signal aborts it. */
  async openStream(token: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return (await this.request('GET', '/events', { token }, signal)).body!;
  }

  private async request(method: string, path: string, call: Call, signal: AbortSignal): Promise<Response> {
    const response = await this.fetch(this.serviceUrl + path, {
      method,
      signal,
      headers: {
        ...(call.token && { Authorization: `Bearer ${call.token}` }),
        ...(call.body && { 'Content-Type': 'application/json' }),
      },
      ...(call.body && { body: JSON.stringify(call.body) }),
      credentials: 'omit',
      cache: 'no-store',
    });
    if (response.ok) return response;
    const seconds = Number(response.headers.get('Retry-After'));
    throw new ServiceError(response.status, await response.text(), seconds > 0 ? seconds * 1000 : 0);
  }
}
