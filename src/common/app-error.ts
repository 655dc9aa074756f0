/** Error codes of the API, each with its HTTP status. */
export const ERROR_STATUS = {
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  UNAUTHENTICATED: 401,
  TRIAL_EXPIRED: 402,
  FORBIDDEN: 403,
  WORKSPACE_SUSPENDED: 403,
  NOT_FOUND: 404,
  REQUEST_TIMEOUT: 408,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Codes whose answers have a `Retry-After` header. */
export const RETRYABLE: readonly ErrorCode[] = ['RATE_LIMITED', 'UNAVAILABLE'];

export interface ErrorDetail {
  field: string;
  message: string;
}

/**
 * The only error that services throw on purpose. Callers see its message, which must contain no secret and no
 * internals.
 */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: ErrorDetail[],
    /** Time after which a retry can succeed, if that is known. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
    this.name = 'AppError';
  }

  /**
   * Makes the error of one faulty field.
   * @param fault continues a sentence that begins with the field: `is required`
   */
  static invalidBody(field: string, fault: string): AppError {
    return new AppError('INVALID_BODY', `${field} ${fault}.`, [{ field, message: fault }]);
  }

  static notFound(thing: string): AppError {
    return new AppError('NOT_FOUND', `${thing} not found.`);
  }

  /**
   * Makes the error of too many requests.
   * @param excess the first sentence of the message
   */
  static rateLimited(excess: string, retryAfterSeconds: number): AppError {
    const message = `${excess} Retry in ${retryAfterSeconds} s.`;
    return new AppError('RATE_LIMITED', message, undefined, retryAfterSeconds);
  }

  static workspaceSuspended(): AppError {
    return new AppError('WORKSPACE_SUSPENDED', 'The workspace is suspended.');
  }

  static busy(retryAfterSeconds?: number): AppError {
    return new AppError('UNAVAILABLE', 'The service is busy. Retry shortly.', undefined, retryAfterSeconds);
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }

  toBody(requestId: string | null): ErrorBody {
    const { code, message, details } = this;
    return { error: { code, message, ...(details && { details }), requestId } };
  }
}

export interface ErrorBody {
  error: { code: ErrorCode; message: string; details?: ErrorDetail[]; requestId: string | null };
}
