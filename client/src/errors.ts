import type { ErrorCode, ErrorDetail } from './api-types.ts';
import type { RateLimit } from './rate-limits.ts';

/**
 * Base class of the client's errors. A malformed argument throws a TypeError instead, and an aborted call
 * throws the reason of its signal.
 */
export class MessagingError extends Error {
  override name = 'MessagingError';
}

/** The service was unreachable, or the connection broke. `cause` is the original error. */
export class ConnectionError extends MessagingError {
  override name = 'ConnectionError';
}

/** No response arrived in time. The service may have performed the request. */
export class TimeoutError extends MessagingError {
  override name = 'TimeoutError';
}

/** Content of an error response from the service, or from a proxy in front of it. */
export interface ErrorAnswer {
  status: number;
  /** Error code for decisions in programs; `UNKNOWN` if the response is not from the service. */
  code: ErrorCode | 'UNKNOWN' | (string & {});
  /** Text for people. Its wording may change. */
  message: string;
  /** Name of the exact cause, so that a program can show a text of its own; null if there is none. */
  reason: string | null;
  /** Values that the message contains, such as a limit. */
  values: Record<string, unknown>;
  /** Faults of single fields or parameters. */
  details: ErrorDetail[];
  /** Request id in the service's logs: quote it to support. */
  requestId: string | null;
  /** Milliseconds until a retry can succeed; null if the response names no time. */
  retryAfterMs: number | null;
  rateLimit: RateLimit | null;
}

/**
 * The service, or a proxy in front of it, returned an error. Each error code that this version of the client
 * knows has a subclass.
 */
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

/** Fields of the body are missing, unknown or wrong. `details` names them. */
export class InvalidBodyError extends ApiError {
  override name = 'InvalidBodyError';
}

/** A query parameter is unknown or wrong. `details` names it. */
export class InvalidQueryError extends ApiError {
  override name = 'InvalidQueryError';
}

/** The API key is missing, malformed, unknown, expired or revoked. */
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}

/** The workspace's trial has ended. Reads work; writes fail until the workspace is upgraded. */
export class TrialExpiredError extends ApiError {
  override name = 'TrialExpiredError';
}

/** The API key lacks the scope that the message names, or may not be used from this IP address. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}

/** The workspace is suspended. */
export class WorkspaceSuspendedError extends ApiError {
  override name = 'WorkspaceSuspendedError';
}

/** The workspace has no row with this id, or the path does not exist. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** The request took too long to arrive at the service. */
export class RequestTimeoutError extends ApiError {
  override name = 'RequestTimeoutError';
}

/** The request conflicts with existing data, which the message names. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** The idempotency key was used for a different request. */
export class IdempotencyConflictError extends ApiError {
  override name = 'IdempotencyConflictError';
}

/** The body is too large. */
export class PayloadTooLargeError extends ApiError {
  override name = 'PayloadTooLargeError';
}

/** No byte of the file is in the range that was asked for. */
export class RangeNotSatisfiableError extends ApiError {
  override name = 'RangeNotSatisfiableError';
}

/** Too many requests were sent. The service accepts further requests after `retryAfterMs` milliseconds. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}

/** The service failed because of a fault of its own. Report the `requestId` to its operator. */
export class InternalError extends ApiError {
  override name = 'InternalError';
}

/** The service is overloaded, or can't use its database. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

/** Subclass of ApiError for each error code. */
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
  RANGE_NOT_SATISFIABLE: RangeNotSatisfiableError,
  RATE_LIMITED: RateLimitedError,
  INTERNAL: InternalError,
  UNAVAILABLE: UnavailableError,
};
