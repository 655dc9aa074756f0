import { Injectable, Logger } from '@nestjs/common';
import { backoffMs } from '../../common/backoff';
import { isTest } from '../../outbox/event-catalog';
import { SecretUnreadable } from '../../secrets/secret-box';
import { AttemptOutcome, internalError } from '../sending/attempt-outcome';
import { DeliverySender } from '../sending/delivery-sender';
import { AttemptRecorder } from './attempt-recorder';
import { AttemptRecord, Delivery } from './delivery';

/** Number of attempts of a delivery: the first one, and the contract's five retries. */
export const MAX_DELIVERY_ATTEMPTS = 6;

/** Makes one attempt of a claimed delivery: sends it, decides what follows, and records that. */
@Injectable()
export class DeliveryAttempter {
  private readonly logger = new Logger(DeliveryAttempter.name);

  constructor(
    private readonly sender: DeliverySender,
    private readonly recorder: AttemptRecorder,
  ) {}

  /** Makes an attempt. It resolves when the outcome is recorded. */
  async attempt(delivery: Delivery): Promise<AttemptRecord> {
    // The endpoint may have been deactivated since the claim.
    const isTooLate = performance.now() > delivery.startBy;
    return this.recorder.record(decide(delivery, isTooLate ? null : await this.send(delivery)));
  }

  private async send({ id, endpoint, event }: Delivery): Promise<AttemptOutcome> {
    const at = new Date();
    try {
      const { url, secrets } = endpoint;
      if (secrets instanceof SecretUnreadable) throw secrets;
      const { type: eventType, data, sequence } = event;
      const content = { deliveryId: id, eventType, data, sequence };
      return await this.sender.send({ url, ...content, ...secrets, keepsHeaders: isTest(eventType) });
    } catch (error) {
      // It counts like a failure of the receiver, so that it is not repeated for ever.
      const { tenantId, id: endpointId } = endpoint;
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId: id },
        'an attempt failed internally',
      );
      return internalError(at);
    }
  }
}

function decide(delivery: Delivery, outcome: AttemptOutcome | null): AttemptRecord {
  if (outcome === null) return { delivery, outcome, status: 'PENDING', retryDelayMs: 0 };
  if (outcome.kind === 'succeeded') return { delivery, outcome, status: 'SUCCEEDED', retryDelayMs: null };
  const failedAttempts = delivery.attemptCount + 1;
  const delay =
    failedAttempts < maxAttemptsOf(delivery.event.type) ? deliveryRetryDelayMs(failedAttempts) : null;
  return { delivery, outcome, status: delay === null ? 'EXHAUSTED' : 'PENDING', retryDelayMs: delay };
}

/**
 * Returns the wait after `failedAttempts` failed attempts: 2, 4, 8, 16 or 32 seconds and up to 10 % more;
 * null when no attempt is left.
 */
export function deliveryRetryDelayMs(failedAttempts: number, random?: () => number): number | null {
  return failedAttempts >= MAX_DELIVERY_ATTEMPTS ? null : backoffMs(failedAttempts, 0, random);
}

/** Returns how many attempts a delivery of an event type has. A test has no retries. */
function maxAttemptsOf(eventType: string): number {
  return isTest(eventType) ? 1 : MAX_DELIVERY_ATTEMPTS;
}
