import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** What an endpoint's deliveries are signed with. */
export interface SigningSecrets {
  /** The endpoint's secret, `whsec_…`. */
  secret: string;
  /** The one before a roll, while it signs too; `signsService`: `x-service-signature` is by it. */
  previousSecret?: { secret: string; signsService: boolean } | null;
}

/** `whsec_` and 32 random bytes in standard base64. */
export function generateEndpointSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * The contract's `x-service-signature`. The key is the whole secret with its prefix, as the receiver knows it.
 */
export function serviceSignature(secret: string, body: string | Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** The Standard Webhooks `webhook-signature`. The key is the decoded secret, as in its libraries. */
export function standardSignature(
  secret: string,
  id: string,
  timestampSeconds: number,
  body: string | Buffer,
): string {
  const hmac = createHmac('sha256', decodeSecret(secret)).update(`${id}.${timestampSeconds}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

function decodeSecret(secret: string): Buffer {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error(`An endpoint secret starts with ${SECRET_PREFIX}`);
  return Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
}
