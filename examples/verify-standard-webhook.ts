import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/**
 * The webhook's body, parsed, if the webhook-* headers prove it genuine and at most 5 minutes old.
 * @throws WebhookVerificationError otherwise
 */
export function openWebhook(rawBody: Buffer, headers: IncomingHttpHeaders, secret: string): unknown {
  return new Webhook(secret).verify(rawBody, headers as Record<string, string>);
}
