import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Reports whether a webhook comes from the service unchanged.
 * @param rawBody the bytes as they came, before any JSON parser
 * @param signature the x-service-signature header
 * @param secret the endpoint's whole secret, "whsec_" included
 */
export function isGenuine(rawBody: Buffer, signature: string | undefined, secret: string): boolean {
  const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
  const expected = Buffer.from(`sha256=${digest}`);
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
