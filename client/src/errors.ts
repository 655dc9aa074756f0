import type { ErrorCode, ErrorDetail } from './api-types.ts';
import type { RateLimit } from './rate-limits.ts';

/** Error of the client: everything that its methods throw, but for the reason of a caller's own abort. */
export class MessagingError extends Error {
  override name = 'MessagingError';
}

/** No answer arrived: the service could not be reached, or the connection broke. `cause` says why. */
export class ConnectionError extends MessagingError {
  override name = 'ConnectionError';
}

/** No answer arrived in time. The service may have carried out the request. */
export class TimeoutError extends MessagingError {
  override name = 'TimeoutError';
}

/** Answer of the service, or of a proxy before it, that is an error. */
export interface ErrorAnswer {
  status: number;
  /** Code to decide by. `UNKNOWN` when the answer does not come from the service. */
  code: ErrorCode | 'UNKNOWN' | (string & {});
  /** Text for people. Its wording may change. */
  message: string;
  /** Word that says more than the code, for texts in other languages. */
  reason: string | null;
  /** Values that the message holds. */
  values: Record<string, unknown>;
  /** Faults of single fields. */
  details: ErrorDetail[];
  /** Id of the request: quote it to support. */
  requestId: string | null;
  /** Time after which a retry can succeed, if the service named one. */
  retryAfterMs: number | null;
  /** State of the path's rate limit. */
  rateLimit: RateLimit | null;
}

/** Answer that is an error. Its subclasses are the codes; a code that this version does not know has none. */
export class ApiError extends MessagingError implements ErrorAnswer {
  override name = 'ApiError';
  readonly status: number;
  readonly code: ErrorAnswer['code'];
  readonly reason: string | null;
  readonly values: Record<string, unknown>;
  readonly details: ErrorDetail[];
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly rateLimit: RateLimit | null;

  constructor(answer: ErrorAnswer) {
    super(answer.message);
    this.status = answer.status;
    this.code = answer.code;
    this.reason = answer.reason;
    this.values = answer.values;
    this.details = answer.details;
    this.requestId = answer.requestId;
    this.retryAfterMs = answer.retryAfterMs;
    this.rateLimit = answer.rateLimit;
  }
}

/** The body lacks fields, or has unknown or wrong ones: `details` names them. */
export class InvalidBodyError extends ApiError {
  override name = 'InvalidBodyError';
}

/** A parameter of the query string is unknown or wrong: `details` names it. */
export class InvalidQueryError extends ApiError {
  override name = 'InvalidQueryError';
}

/** The API key is missing, malformed, unknown, expired or revoked. */
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}

/** The trial is over: reads work, writes do not until the workspace is upgraded. */
export class TrialExpiredError extends ApiError {
  override name = 'TrialExpiredError';
}

/** The key lacks the scope that the message names, or may not be used from this address. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}

/** The workspace is suspended. */
export class WorkspaceSuspendedError extends ApiError {
  override name = 'WorkspaceSuspendedError';
}

/** The workspace has no such thing. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** The request took too long to arrive. */
export class RequestTimeoutError extends ApiError {
  override name = 'RequestTimeoutError';
}

/** The request conflicts with something that exists: the message names it. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** The idempotency key was used for another request. */
export class IdempotencyConflictError extends ApiError {
  override name = 'IdempotencyConflictError';
}

/** The body is too large. */
export class PayloadTooLargeError extends ApiError {
  override name = 'PayloadTooLargeError';
}

/** Too many requests: one after `retryAfterMs` passes. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}

/** Fault of the service: report its `requestId`. */
export class InternalError extends ApiError {
  override name = 'InternalError';
}

/** The service is busy, or can not use its database. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

/** Class of each error code. */
export const ERROR_CLASSES: Readonly<Record<ErrorCode, typeof ApiError>> = {
  INVALID_BODY: InvalidBodyError,
  INVALID_QUERY: InvalidQueryError,
  UNAUTHENTICATED: UnauthenticatedError,
  TRIAL_EXPIRED: TrialExpiredError,
  FORBIDDEN: ForbiddenError,
  WORKSPACE_SUSPENDED: WorkspaceSuspendedError,
  NOT_FOUND: NotFoundError,
  REQUEST_TIMEOUT: RequestTimeoutError,
  CONFLICT: ConflictError,
  IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
  PAYLOAD_TOO_LARGE: PayloadTooLargeError,
  RATE_LIMITED: RateLimitedError,
  INTERNAL: InternalError,
  UNAVAILABLE: UnavailableError,
};
