import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * Signs the tokens of links in mails by the first configured key; every configured key is accepted. The keys
 * are derived from the name of a purpose, so that they serve nothing else.
 */
export class LinkSignatures {
  private readonly keys: Uint8Array[];

  constructor(secretsKeys: { key: Uint8Array }[], purpose: string) {
    this.keys = secretsKeys.map(({ key }) => new Uint8Array(hkdfSync('sha256', key, '', purpose, KEY_BYTES)));
  }

  sign(...ids: string[]): string {
    return signatureOf(this.keys[0]!, ids);
  }

  matches(signature: string, ...ids: string[]): boolean {
    return this.keys.some((key) => isSame(signature, signatureOf(key, ids)));
  }
}

function signatureOf(key: Uint8Array, ids: string[]): string {
  return createHmac('sha256', key).update(ids.join(' ')).digest('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
