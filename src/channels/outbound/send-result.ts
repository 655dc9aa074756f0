import { DeliveryError, DeliveryErrorCode } from '../../messages/message-status';
import { ChannelAdapter, SendOutcome } from '../adapters/channel-adapter';
import { ProviderFault } from '../adapters/hook-events';
import { deliveryError } from './delivery-error';
import { isUsableId } from '../adapters/provider-values';
import { pauseMs, messageRetryDelayMs } from './retry-schedule';

/** New state of a message after an attempt. Times are milliseconds. */
export type SendResult =
  | { status: 'SENT'; providerId: string | null; holdMs: number }
  | { status: 'UNKNOWN'; error: DeliveryError; holdMs: number }
  | { status: 'FAILED'; error: DeliveryError }
  /** The message will be retried. The whole connection waits for `pauseMs`. */
  | { status: 'SENDING'; error: DeliveryError; retryDelayMs: number; pauseMs: number };

/** Outcome of an attempt: the provider's, or the reason why the provider was not asked. */
export type MessageOutcome = SendOutcome | { kind: 'NO_RECIPIENT' | 'ERASED' };

/**
 * Decides what follows from an attempt.
 * @param failedAttempts number of failed attempts before this one
 */
export function decideResult(
  outcome: MessageOutcome,
  { limits, unknownHoldMs }: Pick<ChannelAdapter, 'limits' | 'unknownHoldMs'>,
  failedAttempts: number,
): SendResult {
  switch (outcome.kind) {
    case 'SENT': {
      // An id that can't be stored would make the transaction fail.
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
