import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SecretsKey } from '../config/secrets-keys';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypted secret. `ciphertext` is nonce, authentication tag and encrypted bytes, in this order. */
export interface SealedSecret {
  keyId: string;
  ciphertext: Buffer;
}

/** Thrown if a secret cannot be decrypted. The message never contains a key or a secret. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/**
 * Encrypts secrets that the service must read again, such as an endpoint's signing secret. The first key
 * encrypts; every key decrypts. To rotate keys, put a new key first, and keep the old one until `reencrypt`
 * has encrypted all rows with the new one.
 */
export class SecretBox {
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly current: SecretsKey;

  constructor(ring: readonly SecretsKey[]) {
    const [first] = ring;
    if (!first) throw new Error('At least one key is needed to encrypt secrets');
    if (ring.some(({ key }) => key.length !== KEY_BYTES)) {
      throw new Error(`Every key must be ${KEY_BYTES} bytes long`);
    }
    this.current = first;
    this.keys = new Map(ring.map(({ id, key }) => [id, key]));
    if (this.keys.size !== ring.length) throw new Error('Every key needs an id of its own');
  }

  get currentKeyId(): string {
    return this.current.id;
  }

  /**
   * Encrypts a secret, and authenticates `context` with it, such as the row's id. So a ciphertext that is
   * copied to another row cannot be decrypted.
   */
  encrypt(plaintext: string, context: string): SealedSecret {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.current.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const encrypted = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return { keyId: this.current.id, ciphertext: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]) };
  }

  /**
   * Decrypts a secret.
   * @param context the context that was passed to `encrypt`
   * @throws SecretUnreadable: a key that is missing or has changed, an altered ciphertext, another context
   */
  decrypt({ keyId, ciphertext }: SealedSecret, context: string): string {
    const key = this.keys.get(keyId);
    if (!key) throw new SecretUnreadable(`The key "${keyId}" is not among the configured keys`);
    if (ciphertext.length < NONCE_BYTES + TAG_BYTES)
      throw new SecretUnreadable('The ciphertext is too short');

    const nonce = ciphertext.subarray(0, NONCE_BYTES);
    const tag = ciphertext.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(tag);
    const decrypted = decipher.update(ciphertext.subarray(NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decrypted, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SecretUnreadable(
        `The secret does not open with key "${keyId}": it was altered, moved from another row, or the key's bytes changed`,
        { cause },
      );
    }
  }
}
