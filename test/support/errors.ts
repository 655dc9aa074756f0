import { AppError, ErrorCode, ErrorDetail } from '../../src/common/app-error';

/**
 * Returns the body of an error, but for the codes and values of its texts. ContractValidator checks for every
 * answer that the body's request id is the header's.
 */
export function errorBody(code: ErrorCode, message: unknown, details?: ErrorDetail[]): object {
  const faults = details?.map((detail): unknown => expect.objectContaining(detail));
  const error = { code, message, ...(faults && { details: faults }), requestId: expect.any(String) };
  return { error: expect.objectContaining(error) as object };
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
