import { readHeader, type WebhookHeaders } from './headers.ts';
import { WebhookVerificationError } from './verify.ts';

/** Delivery of an event, read from the webhook's headers. */
export interface WebhookDelivery {
  /** Id of the delivery. Every attempt of the delivery has this id. */
  id: string;
  /**
   * Number of the event within its conversation; null if the service sends none. A later event has a higher
   * number. The signature does not cover the number.
   */
  sequence: number | null;
  /** Whether the webhook is a test: a `webhook.test` event, or an example whose ids belong to no row. */
  isTest: boolean;
}

/**
 * Reads the headers of a verified webhook.
 * @throws WebhookVerificationError NO_SIGNATURE: `webhook-id` or `webhook-signature` is missing. The
 *   signature is required because no other signature covers the id. An attacker could otherwise send a
 *   recorded webhook again under another id.
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
