import { Injectable } from '@nestjs/common';
import { SealedSecret, SecretBox } from '../../common/secret-box';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { AttemptRecorder } from './attempt.recorder';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliverySender } from '../sending/delivery-sender';
import { RecordedAttempt } from './pending-deliveries.repository';
import { retryDelayMs } from './retry-schedule';

/** Makes one attempt of a claimed delivery: decrypt, sign and send, decide, record. */
@Injectable()
export class DeliveryAttempter {
  /** Secrets of deliveries that are under way. */
  private readonly opened = new WeakMap<SealedSecret, string>();

  constructor(
    private readonly secrets: SecretBox,
    private readonly sender: DeliverySender,
    private readonly recorder: AttemptRecorder,
  ) {}

  /** @throws SecretUnreadable when the key that it was encrypted under is not configured here */
  secretOf({ secret, endpointId }: Pick<ClaimedDelivery, 'secret' | 'endpointId'>): string {
    const known = this.opened.get(secret);
    if (known !== undefined) return known;
    const opened = this.secrets.decrypt(secret, endpointId);
    this.opened.set(secret, opened);
    return opened;
  }

  /** Settles once the outcome is committed. What the receiver does is an outcome; only a fault of our own throws. */
  async attempt(delivery: ClaimedDelivery): Promise<RecordedAttempt> {
    const { id, url, eventType, data, sequence } = delivery;
    const secret = this.secretOf(delivery);
    const outcome = await this.sender.send({ deliveryId: id, url, secret, eventType, data, sequence });
    return this.recorder.record(decide(delivery, outcome));
  }
}

/** What an outcome makes of its delivery: done, given up, or due again later. */
function decide(delivery: ClaimedDelivery, outcome: AttemptOutcome): RecordedAttempt {
  if (outcome.kind === 'succeeded') return { delivery, outcome, status: 'SUCCEEDED', retryDelayMs: null };
  const failedAttempts = delivery.attemptCount + 1;
  const delay = failedAttempts < delivery.maxAttempts ? retryDelayMs(failedAttempts) : null;
  return { delivery, outcome, status: delay === null ? 'EXHAUSTED' : 'PENDING', retryDelayMs: delay };
}
