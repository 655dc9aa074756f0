const SECRET_PREFIX = 'whsec_';
const SERVICE_SIGNATURE = /^sha256=([0-9a-f]{64})$/;
const STANDARD_SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
/** Maximum number of a webhook's signatures that are checked. The service sends two for two secrets. */
const MAX_SIGNATURES = 8;

const encoder = new TextEncoder();

/** Reports whether one of the secrets made this `x-service-signature` of the body: `sha256=<hex>`. */
export async function isServiceSignature(
  signature: string,
  secrets: readonly string[],
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const hex = SERVICE_SIGNATURE.exec(signature)?.[1];
  if (hex === undefined) return false;
  const digest = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  // The HMAC key is the whole secret, with the prefix `whsec_`.
  return isAnyDigest(
    [digest],
    secrets.map((secret) => encoder.encode(secret)),
    body,
  );
}

/** Reports whether a secret made one of the signatures of Standard Webhooks, `v1,<base64> v1,<base64>`. */
export async function isStandardSignature(
  signatures: string,
  secrets: readonly string[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const digests = signatures
    .split(' ')
    .slice(0, MAX_SIGNATURES)
    .flatMap((signature) => STANDARD_SIGNATURE.exec(signature)?.[1] ?? [])
    .map(bytesOfBase64);
  return isAnyDigest(digests, secrets.map(keyOf), signed);
}

/** Reports whether one of the keys made one of the digests. `subtle.verify` compares in constant time. */
async function isAnyDigest(
  digests: Uint8Array<ArrayBuffer>[],
  keys: Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const digest of digests) if (await crypto.subtle.verify('HMAC', key, digest, signed)) return true;
  }
  return false;
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  return bytesOfBase64(secret.slice(SECRET_PREFIX.length));
}

/** Throws a TypeError unless all values are endpoints' secrets. The error's message contains no secret. */
export function requireSecrets(secrets: readonly unknown[]): asserts secrets is readonly string[] {
  const isSecret = (secret: unknown) =>
    typeof secret === 'string' && /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret);
  if (secrets.length > 0 && secrets.every(isSecret)) return;
  throw new TypeError(`The secret must be an endpoint's whole secret, ${SECRET_PREFIX}…, or a list of them.`);
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
