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
  /** By the sealed secret that the deliveries of one claim share. */
  private readonly decrypted = new WeakMap<SealedSecret, string>();

  constructor(
    private readonly secrets: SecretBox,
    private readonly sender: DeliverySender,
    private readonly recorder: AttemptRecorder,
  ) {}

  /** @throws SecretUnreadable when its key is not configured in this process */
  secretOf({ secret, endpointId }: Pick<ClaimedDelivery, 'secret' | 'endpointId'>): string {
    const known = this.decrypted.get(secret);
    if (known !== undefined) return known;
    const decrypted = this.secrets.decrypt(secret, endpointId);
    this.decrypted.set(secret, decrypted);
    return decrypted;
  }

  /** Settles once the outcome is committed. A failure of the receiver is an outcome; only an internal error throws. */
  async attempt(delivery: ClaimedDelivery): Promise<RecordedAttempt> {
    const { id, url, eventType, data, sequence } = delivery;
    const secret = this.secretOf(delivery);
    const outcome = await this.sender.send({ deliveryId: id, url, secret, eventType, data, sequence });
    return this.recorder.record(decide(delivery, outcome));
  }
}

function decide(delivery: ClaimedDelivery, outcome: AttemptOutcome): RecordedAttempt {
  if (outcome.kind === 'succeeded') return { delivery, outcome, status: 'SUCCEEDED', retryDelayMs: null };
  const failedAttempts = delivery.attemptCount + 1;
  const delay = failedAttempts < delivery.maxAttempts ? retryDelayMs(failedAttempts) : null;
  return { delivery, outcome, status: delay === null ? 'EXHAUSTED' : 'PENDING', retryDelayMs: delay };
}
