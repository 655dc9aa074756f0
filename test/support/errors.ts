import { AppError, ErrorCode, ErrorDetail } from '../../src/common/app-error';

/**
 * Returns the whole body of an error. ContractValidator checks for every answer that the body's request id is
 * the header's.
 */
export function errorBody(code: ErrorCode, message: unknown, details?: ErrorDetail[]): object {
  return { error: { code, message, ...(details && { details }), requestId: expect.any(String) } };
}

/** Returns the whole body of an error about one field. */
export function fieldError(code: 'INVALID_BODY' | 'INVALID_QUERY', field: string, message: string): object {
  return errorBody(code, expect.stringContaining(message), [{ field, message }]);
}

/** Expects that a service refuses a call with a code. */
export async function expectRefusal(asked: Promise<unknown>, code: ErrorCode): Promise<void> {
  const outcome: unknown = await asked.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(AppError);
  expect(outcome).toMatchObject({ code });
}
