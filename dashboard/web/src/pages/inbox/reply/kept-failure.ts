import { ApiError } from '../../../api/client';

/**
 * Milliseconds after which an unsent message is no longer sent automatically. The server forgets an
 * idempotency key after 24 hours, so a message whose answer was lost could then be sent twice.
 */
const MAX_AGE_MS = 23 * 60 * 60 * 1000;

/** Reason why a message could not be sent, in the form in which the browser stores it. */
export type KeptFailure = Pick<
  ApiError,
  'code' | 'message' | 'status' | 'requestId' | 'details' | 'retryAfterSeconds' | 'reason'
>;

/** Returns an error in the form that is stored. The page's own errors are stored as if no answer came. */
export function toFailure(error: unknown): KeptFailure {
  const known = error instanceof ApiError ? error : new ApiError('NETWORK', 'No answer.', 0, null);
  // Spreading an error omits its `message`.
  return { ...known, message: known.message };
}

export function toError(failure: KeptFailure): ApiError {
  const { code, message, status, requestId, details, retryAfterSeconds, reason } = failure;
  return new ApiError(code, message, status, requestId, details, retryAfterSeconds, reason);
}

/**
 * Reports whether a message is sent again automatically after a failure: if the server was not reached,
 * failed, or did not know the session. After any other refusal, the person decides.
 * @param isFirst whether the page has just been loaded; then a message without a failure is sent too, because
 *   the page may have been left while sending it
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
