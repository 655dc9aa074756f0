import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/**
 * Returns the webhook's parsed body, if the webhook-* headers prove that it is genuine and at most 5 minutes
 * old.
 * @throws WebhookVerificationError otherwise
 */
export function openWebhook(rawBody: Buffer, headers: IncomingHttpHeaders, secret: string): unknown {
  return new Webhook(secret).verify(rawBody, headers as Record<string, string>);
}
