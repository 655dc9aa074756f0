const KEY_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** Key of 256 bits that encrypts stored secrets. Its id is stored with each secret that it encrypted. */
export interface SecretsKey {
  id: string;
  key: Buffer;
}

/**
 * Parses `id:base64,id2:base64`. Each key has 32 bytes; `openssl rand -base64 32` makes one.
 * @throws Error that lists all faults by the position and id of the key, never by its value
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
  // A malformed id may be a misplaced key, so the message does not repeat the id.
  if (!KEY_ID.test(id)) return `the id of ${position} must be 1 to 32 letters, digits, "_" or "-"`;
  const key = decodeBase64(entry.slice(separator + 1));
  if (!key) return `the value of "${id}" is not base64`;
  if (key.length !== KEY_BYTES)
    return `the value of "${id}" is ${key.length} bytes long instead of ${KEY_BYTES}`;
  return { id, key };
}

/** Decodes Base64; returns null for a fault. `Buffer` would ignore the fault and return another key. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  const canonical = bytes.toString('base64');
  return text === canonical || text === canonical.replace(/=+$/, '') ? bytes : null;
}
