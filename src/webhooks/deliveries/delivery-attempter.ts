import { Injectable, Logger } from '@nestjs/common';
import { isTest } from '../../outbox/event-catalog';
import { SealedSecret, SecretBox } from '../../secrets/secret-box';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { AttemptOutcome, internalError } from '../sending/attempt-outcome';
import { DeliverySender } from '../sending/delivery-sender';
import { SigningSecrets } from '../sending/signature';
import { AttemptRecorder } from './attempt-recorder';
import { AttemptRecord, Delivery } from './delivery';
import { maxAttemptsOf, deliveryRetryDelayMs } from './retry-schedule';

type SealedSecrets = Pick<Subscriber, 'id' | 'secret' | 'previousSecret'>;

/**
 * Makes one attempt of a claimed delivery: decrypts its secret, signs, sends, decides what follows, and
 * records.
 */
@Injectable()
export class DeliveryAttempter {
  private readonly logger = new Logger(DeliveryAttempter.name);
  /** Decrypted secrets, by the sealed secret that the deliveries of one claim share. */
  private readonly decrypted = new WeakMap<SealedSecret, string>();

  constructor(
    private readonly secrets: SecretBox,
    private readonly sender: DeliverySender,
    private readonly recorder: AttemptRecorder,
  ) {}

  /**
   * Decrypts the secrets of an endpoint.
   * @throws SecretUnreadable when the key of one is not configured in this process
   */
  readSecrets({ id, secret, previousSecret }: SealedSecrets): SigningSecrets {
    return {
      secret: this.decrypt(secret, id),
      previousSecret: previousSecret && {
        secret: this.decrypt(previousSecret.secret, id),
        signsService: previousSecret.signsService,
      },
    };
  }

  /** Makes an attempt. It resolves when the outcome is recorded. */
  async attempt(delivery: Delivery): Promise<AttemptRecord> {
    // The endpoint may have been deactivated since the claim.
    const isTooLate = performance.now() > delivery.startBy;
    return this.recorder.record(decide(delivery, isTooLate ? null : await this.send(delivery)));
  }

  private decrypt(sealed: SealedSecret, endpointId: string): string {
    const known = this.decrypted.get(sealed);
    if (known !== undefined) return known;
    const decrypted = this.secrets.decrypt(sealed, endpointId);
    this.decrypted.set(sealed, decrypted);
    return decrypted;
  }

  private async send({ id, endpoint, event }: Delivery): Promise<AttemptOutcome> {
    const at = new Date();
    try {
      const { type: eventType, data, sequence } = event;
      const keepsHeaders = isTest(eventType);
      const request = { deliveryId: id, url: endpoint.url, eventType, data, sequence, keepsHeaders };
      return await this.sender.send({ ...request, ...this.readSecrets(endpoint) });
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
