import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Secrets that sign an endpoint's deliveries. */
export interface SigningSecrets {
  /** Secret of the endpoint, `whsec_…`. */
  secret: string;
  /**
   * Secret before a roll, while it signs too. `signsService` says that `x-service-signature` is made with it.
   */
  previousSecret?: { secret: string; signsService: boolean } | null;
}

/** Generates a secret: `whsec_` and 32 random bytes in standard base64. */
export function generateEndpointSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * Returns the contract's `x-service-signature`. The key is the whole secret with its prefix, as the receiver
 * knows it.
 */
export function serviceSignature(secret: string, body: string | Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/**
 * Returns the `webhook-signature` of Standard Webhooks. The key is the decoded secret, as in its libraries.
 */
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
