import { ApiError, ERROR_CLASSES, type ErrorAnswer } from './errors.ts';
import { readRateLimit } from './rate-limits.ts';

/** Returns an instance of the error class for the code in an error response. */
export function errorOf(response: Response, text: string): ApiError {
  const answer = readErrorAnswer(response, text);
  const ErrorClass = Object.hasOwn(ERROR_CLASSES, answer.code)
    ? ERROR_CLASSES[answer.code as keyof typeof ERROR_CLASSES]
    : ApiError;
  return new ErrorClass(answer);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readErrorAnswer({ status, headers }: Response, text: string): ErrorAnswer {
  const body = parseJson(text) as { error?: Partial<ErrorAnswer> } | null | undefined;
  // The body has no error code if the response comes from a proxy in front of the service.
  const error = typeof body?.error?.code === 'string' ? body.error : {};
  return {
    status,
    code: error.code ?? 'UNKNOWN',
    message: error.message ?? `The answer has status ${status}, and no error of the service.`,
    reason: error.reason ?? null,
    values: error.values ?? {},
    details: error.details ?? [],
    requestId: error.requestId ?? headers.get('x-request-id'),
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
    rateLimit: readRateLimit(headers),
  };
}

/** Returns a `Retry-After` header in milliseconds. The service sends seconds, but a proxy may send a date. */
function readRetryAfter(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
