import type { ErrorBody, ErrorDetail } from './types';

const TIMEOUT_MS = 60_000;
const READY_MS = 1_500;

/**
 * Error of a failed request. `code` is the error code in the server's answer, or `NETWORK` if no answer came.
 * It is `UNREADABLE` if the answer is not in the server's form, such as a proxy's page.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly requestId: string | null,
    readonly details: ErrorDetail[] = [],
    readonly retryAfterSeconds: number | null = null,
    readonly reason: Pick<ErrorBody['error'], 'reason' | 'values'> = {},
  ) {
    super(message);
  }
}

export const api = {
  get: <T>(path: string, signal?: AbortSignal) => call<T>('GET', `/api${path}`, undefined, signal),
  post: <T>(path: string, body: object = {}) => call<T>('POST', `/api${path}`, body),
  /** Posts a request that the server carries out once per idempotency key, however often it arrives. */
  postOnce: <T>(path: string, body: object, key: string) =>
    call<T>('POST', `/api${path}`, body, undefined, { 'idempotency-key': key }),
  /** Posts a body that is sent even if the person leaves the page. Awaits no answer, and ignores errors. */
  tell: (path: string, body: object) =>
    void fetch(`/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      keepalive: true,
    }).catch(() => undefined),
  put: <T>(path: string, body: object) => call<T>('PUT', `/api${path}`, body),
  /** Puts a body that is sent even if the person leaves the page. Browsers refuse bodies above 64 KiB. */
  putAtLast: <T>(path: string, body: object) =>
    call<T>('PUT', `/api${path}`, body, undefined, {}, { keepalive: true }),
  patch: <T>(path: string, body: object) => call<T>('PATCH', `/api${path}`, body),
  delete: <T>(path: string) => call<T>('DELETE', `/api${path}`, {}),
  /** Throws unless the dashboard's server answers within 1.5 s that it is ready. */
  checkReady: (signal: AbortSignal) =>
    call<object>('GET', '/health/ready', undefined, AbortSignal.any([signal, AbortSignal.timeout(READY_MS)])),
};

/** Returns the values as a query string such as `?a=b`, without undefined and empty ones. */
export function toQuery(values: object): string {
  const given = Object.entries(values as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const query = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query && `?${query}`;
}

async function call<T>(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
  options: Pick<RequestInit, 'keepalive'> = {},
): Promise<T> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  try {
    response = await fetch(path, {
      ...options,
      method,
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('NETWORK', 'No answer.', 0, null);
  }
  const text = await response.text();
  if (!response.ok) throw errorOf(response, text);
  return (text === '' ? undefined : parse(response, text)) as T;
}

function parse(response: Response, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('UNREADABLE', 'An unreadable answer.', response.status, requestIdOf(response));
  }
}

/** Returns the error that the server's answer contains. */
export function errorOf(response: Response, text: string): ApiError {
  const { error } = (parse(response, text) ?? {}) as Partial<ErrorBody>;
  const retryAfter = Number(response.headers.get('retry-after'));
  return new ApiError(
    error?.code ?? 'UNREADABLE',
    error?.message ?? 'An unreadable answer.',
    response.status,
    error?.requestId ?? requestIdOf(response),
    error?.details,
    retryAfter > 0 ? retryAfter : null,
    error,
  );
}

function requestIdOf(response: Response): string | null {
  return response.headers.get('x-request-id');
}
