import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

export interface SecretsKey {
  id: string;
  key: Buffer;
}

/** `ciphertext` is nonce ‖ tag ‖ encrypted bytes. */
export interface SealedSecret {
  keyId: string;
  ciphertext: Buffer;
}

/** The message never holds key or secret material. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/**
 * Encrypts secrets that the service must read again, such as an endpoint's signing secret. The ring's first key encrypts;
 * every key decrypts. To rotate, put a new key first, and keep the old one until all rows are re-encrypted.
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

  /** A row under any other key is due for re-encryption. */
  get currentKeyId(): string {
    return this.current.id;
  }

  /** `context`, such as the row's id, is authenticated: a ciphertext in another row does not decrypt. */
  encrypt(plaintext: string, context: string): SealedSecret {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.current.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const encrypted = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return { keyId: this.current.id, ciphertext: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]) };
  }

  /** @throws SecretUnreadable */
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

/**
 * Parses `id:base64,id2:base64`. One error lists all faults, by position and id, never by value.
 * `openssl rand -base64 32` makes a key.
 */
export function parseSecretsKeys(text: string): SecretsKey[] {
  const faults: string[] = [];
  const ring: SecretsKey[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const parsed = parseEntry(entry.trim(), `key ${index + 1}`);
    if (typeof parsed === 'string') faults.push(parsed);
    else if (ring.some(({ id }) => id === parsed.id)) faults.push(`the id "${parsed.id}" is given twice`);
    else ring.push(parsed);
  }
  if (faults.length > 0) throw new Error(`Invalid secrets keys: ${faults.join('; ')}`);
  return ring;
}

function parseEntry(entry: string, position: string): SecretsKey | string {
  if (entry === '') return `${position} is empty`;
  const separator = entry.indexOf(':');
  if (separator < 0) return `${position} is not of the form id:base64`;
  const id = entry.slice(0, separator);
  // A malformed id may be a misplaced key, so the message does not repeat it.
  if (!KEY_ID.test(id)) return `the id of ${position} must be 1 to 32 letters, digits, "_" or "-"`;
  const key = decodeBase64(entry.slice(separator + 1));
  if (!key) return `the value of "${id}" is not base64`;
  if (key.length !== KEY_BYTES)
    return `the value of "${id}" is ${key.length} bytes long instead of ${KEY_BYTES}`;
  return { id, key };
}

/** Buffer is lenient, but a mistyped key must be an error, not another key. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  const canonical = bytes.toString('base64');
  return text === canonical || text === canonical.replace(/=+$/, '') ? bytes : null;
}
