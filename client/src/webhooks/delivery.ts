import { readHeader, type WebhookHeaders } from './headers.ts';
import { WebhookVerificationError } from './verify.ts';

/** Delivery of an event, as the webhook's headers describe it. */
export interface WebhookDelivery {
  /** Id of the delivery: the same each time that it is sent. */
  id: string;
  /**
   * Number of the event within its conversation, rising; null for events without an order. It is not signed.
   */
  sequence: number | null;
  /** Whether it is a trial of the endpoint: a `webhook.test`, or an example, whose ids name nothing. */
  isTest: boolean;
}

/**
 * Reads the headers of a verified webhook.
 * @throws WebhookVerificationError NO_SIGNATURE: the headers of Standard Webhooks, which alone sign the id,
 *   are missing, so that a stranger who has kept the webhook could send it again with another id
 */
export function readDelivery(headers: WebhookHeaders, event: string): WebhookDelivery {
  const id = readHeader(headers, 'webhook-id');
  if (!id || readHeader(headers, 'webhook-signature') === undefined)
    throw new WebhookVerificationError('NO_SIGNATURE', 'webhook-id or webhook-signature is missing.');
  const sequence = Number(readHeader(headers, 'x-service-sequence') ?? Number.NaN);
  return {
    id,
    sequence: Number.isSafeInteger(sequence) ? sequence : null,
    isTest: event === 'webhook.test' || id.startsWith('test_'),
  };
}
