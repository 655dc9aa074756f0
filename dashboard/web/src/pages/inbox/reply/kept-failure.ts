import { ApiError } from '../../../api/client';

/**
 * Age up to which a message goes out by itself. The server knows its key for a day: a later try of one whose
 * answer was lost would arrive a second time.
 */
const MAX_AGE_MS = 23 * 60 * 60 * 1000;

/** Reason of the last failed try to send a message, as the browser keeps it. */
export type KeptFailure = Pick<
  ApiError,
  'code' | 'message' | 'status' | 'requestId' | 'details' | 'retryAfterSeconds' | 'reason'
>;

/**
 * Returns the kept form of an error. An error that is not the server's is kept like an answer that never
 * came.
 */
export function toFailure(error: unknown): KeptFailure {
  const known = error instanceof ApiError ? error : new ApiError('NETWORK', 'No answer.', 0, null);
  // The message of an error is not among the properties that are spread.
  return { ...known, message: known.message };
}

export function toError(failure: KeptFailure): ApiError {
  const { code, message, status, requestId, details, retryAfterSeconds, reason } = failure;
  return new ApiError(code, message, status, requestId, details, retryAfterSeconds, reason);
}

/**
 * Reports whether a message goes out by itself after a failure: when the server was not reached, was not
 * able, or did not know the person. Any other refusal waits for the person.
 * @param isFirst whether the page has just begun: one that was left while it sent has noted no failure
 */
export function goesByItself(
  { failure, writtenAt = 0 }: { failure?: KeptFailure; writtenAt?: number },
  isFirst: boolean,
  now: number,
): boolean {
  if (now - writtenAt > MAX_AGE_MS) return false;
  if (!failure) return isFirst;
  const { status } = failure;
  return status === 0 || status === 401 || status >= 500;
}
