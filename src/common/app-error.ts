/** Every error code an answer can carry, and its HTTP status. */
export const ERROR_STATUS = {
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  UNAUTHENTICATED: 401,
  TRIAL_EXPIRED: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** What is wrong with one field of a request. */
export interface ErrorDetail {
  field: string;
  message: string;
}

/** The one error that services throw on purpose. The message is for the caller: no secret, no internals. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: ErrorDetail[],
  ) {
    super(message);
    this.name = 'AppError';
  }

  /** @param fault what is wrong with the field, as a sentence goes on after its name */
  static invalidBody(field: string, fault: string): AppError {
    return new AppError('INVALID_BODY', `${field} ${fault}.`, [{ field, message: fault }]);
  }

  static notFound(thing: string): AppError {
    return new AppError('NOT_FOUND', `${thing} not found.`);
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }

  /** The body of the answer. */
  toBody(requestId: string | null): ErrorBody {
    const { code, message, details } = this;
    return { error: { code, message, ...(details && { details }), requestId } };
  }
}

export interface ErrorBody {
  error: { code: ErrorCode; message: string; details?: ErrorDetail[]; requestId: string | null };
}
