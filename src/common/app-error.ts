import { FAULTS } from './fault-texts';
import { REASONS } from './reason-texts';
import { CodedFault, Fault, FaultCode, faultSentence, makeFault } from './error-texts';
import { makeReason, Reason, ReasonCode, Thing, ValuesOf } from './error-texts';

export const API_ERROR_STATUS = {
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  UNAUTHENTICATED: 401,
  TRIAL_EXPIRED: 402,
  FORBIDDEN: 403,
  WORKSPACE_SUSPENDED: 403,
  NOT_FOUND: 404,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RANGE_NOT_SATISFIABLE: 416,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ApiErrorCode = keyof typeof API_ERROR_STATUS;

/** HTTP status of each error code. Only the dashboard and the CLI get codes beyond `API_ERROR_STATUS`. */
const ERROR_STATUS = { ...API_ERROR_STATUS, MISDIRECTED_REQUEST: 421 } as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Codes of errors whose responses have a `Retry-After` header. */
export const RETRYABLE: readonly ErrorCode[] = ['RATE_LIMITED', 'UNAVAILABLE'];

/** Fault of one field of a request. Pages find its text in another language by `code` and `values`. */
export interface ErrorDetail extends Partial<CodedFault>, Pick<Fault, 'message'> {
  field: string;
}

/** Reason why a request is refused as a whole. Pages find its text in another language by `reason`. */
export type ErrorReason = Omit<Reason, 'message'>;

/** The only error that services throw on purpose. API callers read its message, so it must have no secret. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: ErrorDetail[],
    /** Seconds after which a retry can succeed, if known. */
    readonly retryAfterSeconds?: number,
    readonly reason?: ErrorReason,
  ) {
    super(message);
    this.name = 'AppError';
  }

  static invalidBody<Code extends FaultCode>(
    field: string,
    code: Code,
    ...values: ValuesOf<(typeof FAULTS)[Code]>
  ): AppError {
    const detail = { field, ...makeFault(code, ...values) };
    return new AppError('INVALID_BODY', `${faultSentence(field, detail)}.`, [detail]);
  }

  static because<Code extends ReasonCode>(
    code: ErrorCode,
    reason: Code,
    ...given: ValuesOf<(typeof REASONS)[Code]>
  ): AppError {
    const { message, ...coded } = makeReason(reason, ...given);
    return new AppError(code, message, undefined, undefined, coded);
  }

  static notFound(thing: Thing): AppError {
    return AppError.because('NOT_FOUND', 'not_found', { thing });
  }

  static rateLimited(excess: string | Reason, retryAfterSeconds: number): AppError {
    const wait = `Retry in ${retryAfterSeconds} s.`;
    if (typeof excess === 'string')
      return new AppError('RATE_LIMITED', `${excess} ${wait}`, undefined, retryAfterSeconds);
    const { message, ...coded } = excess;
    return new AppError('RATE_LIMITED', `${message} ${wait}`, undefined, retryAfterSeconds, coded);
  }

  static workspaceSuspended(): AppError {
    return AppError.because('WORKSPACE_SUSPENDED', 'workspace_suspended');
  }

  static busy(retryAfterSeconds?: number): AppError {
    return new AppError('UNAVAILABLE', REASONS.busy, undefined, retryAfterSeconds, { reason: 'busy' });
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }

  toBody(requestId: string | null): ErrorBody {
    const { code, message, reason, details } = this;
    return { error: { code, message, ...reason, ...(details && { details }), requestId } };
  }
}

export interface ErrorBody {
  error: {
    code: ErrorCode;
    message: string;
    details?: ErrorDetail[];
    requestId: string | null;
  } & Partial<ErrorReason>;
}
