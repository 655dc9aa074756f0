import { backoffMs, FIRST_DELAY_MS } from '../../common/backoff';
import { DeliveryError, DeliveryErrorCode } from '../../common/message-status';
import { ChannelAdapter, SendOutcome } from '../adapters/channel-adapter';
import { ProviderFault } from '../adapters/hook-events';
import { deliveryError } from './delivery-error';
import { isUsableId } from '../adapters/provider-values';

/** Maximum number of attempts. The seven retries take four minutes, longer than most providers' outages. */
export const MAX_MESSAGE_ATTEMPTS = 8;

const MAX_DELAY_MS = 24 * 60 * 60 * 1000;

/** State of a message after an attempt. Times are in milliseconds. */
export type SendResult =
  | { status: 'SENT'; providerId: string | null; holdMs: number }
  | { status: 'UNKNOWN'; error: DeliveryError; holdMs: number }
  | { status: 'FAILED'; error: DeliveryError }
  /** The message will be retried. Its connection pauses for `pauseMs` milliseconds. */
  | { status: 'SENDING'; error: DeliveryError; retryDelayMs: number; pauseMs: number };

/** Outcome of an attempt: the provider's, or the reason why nothing was sent to the provider. */
export type MessageOutcome = SendOutcome | { kind: 'NO_RECIPIENT' | 'ERASED' };

/** Decides a message's state after an attempt that followed `failedAttempts` failed ones. */
export function decideResult(
  outcome: MessageOutcome,
  { limits, unknownHoldMs }: Pick<ChannelAdapter, 'limits' | 'unknownHoldMs'>,
  failedAttempts: number,
): SendResult {
  switch (outcome.kind) {
    case 'SENT': {
      // An id that PostgreSQL cannot store would make the transaction fail.
      const providerId =
        outcome.providerId !== null && isUsableId(outcome.providerId) ? outcome.providerId : null;
      return { status: 'SENT', providerId, holdMs: limits.conversationIntervalMs };
    }
    case 'UNKNOWN':
      return {
        status: 'UNKNOWN',
        error: deliveryError('OUTCOME_UNKNOWN', outcome.fault),
        holdMs: unknownHoldMs,
      };
    case 'TERMINAL':
      return failed('REFUSED', outcome.fault);
    case 'WINDOW':
      return failed('WINDOW_CLOSED', outcome.fault);
    case 'NO_RECIPIENT':
      return failed('NO_RECIPIENT');
    case 'ERASED':
      return failed('ERASED');
    case 'REAUTH':
      return failed('REAUTH_REQUIRED', outcome.fault);
    case 'RETRY': {
      const delay = messageRetryDelayMs(failedAttempts + 1, outcome.afterMs);
      if (delay === null) return failed('RETRIES_EXHAUSTED', outcome.fault);
      return {
        status: 'SENDING',
        error: deliveryError('RETRYING', outcome.fault),
        retryDelayMs: delay,
        pauseMs: outcome.concerns === 'connection' ? pauseMs(outcome.afterMs) : 0,
      };
    }
  }
}

function failed(code: DeliveryErrorCode, fault?: ProviderFault): SendResult {
  return { status: 'FAILED', error: deliveryError(code, fault) };
}

/**
 * Returns the milliseconds to wait after `failedAttempts` failed attempts: 2, 4, 8 … 128 s plus up to 10 %,
 * or longer if the provider asks for it. Null if no attempt is left.
 */
export function messageRetryDelayMs(
  failedAttempts: number,
  requestedMs = 0,
  random?: () => number,
): number | null {
  if (failedAttempts >= MAX_MESSAGE_ATTEMPTS) return null;
  return backoffMs(failedAttempts, Math.min(requestedMs, MAX_DELAY_MS), random);
}

/** Returns the milliseconds that a throttled connection pauses, however often the message has failed. */
export function pauseMs(requestedMs = 0): number {
  return Math.min(Math.max(requestedMs, FIRST_DELAY_MS), MAX_DELAY_MS);
}
