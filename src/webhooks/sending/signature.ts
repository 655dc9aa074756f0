import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export interface SigningSecrets {
  /** Secret of the endpoint, `whsec_…`. */
  secret: string;
  /** Secret before the last roll, while it signs. `signsService`: whether it makes `x-service-signature`. */
  previousSecret?: { secret: string; signsService: boolean } | null;
}

/** Generates a secret: `whsec_` and 32 random bytes in standard base64. */
export function generateEndpointSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns `x-service-signature`. The key of the HMAC is the text of the secret, with its prefix. */
export function serviceSignature(secret: string, body: string | Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Returns `webhook-signature` (Standard Webhooks). The key of the HMAC is the decoded secret. */
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
