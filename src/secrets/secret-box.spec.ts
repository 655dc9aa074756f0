import { createDecipheriv, randomBytes } from 'node:crypto';
import { SecretBox, SecretUnreadable } from './secret-box';

const key = (id: string) => ({ id, key: randomBytes(32) });

describe('SecretBox', () => {
  it('decrypts any text that it encrypted', () => {
    const box = new SecretBox([key('a')]);
    for (const text of ['', 'whsec_abc', 'Zoë — 漢字 🎈']) {
      expect(box.decrypt(box.encrypt(text, 'row-1'), 'row-1')).toBe(text);
    }
  });

  it('stores nonce, tag and ciphertext in this order', () => {
    const ring = key('a');
    const { keyId, ciphertext } = new SecretBox([ring]).encrypt('hello', 'row-1');
    const decipher = createDecipheriv('aes-256-gcm', ring.key, ciphertext.subarray(0, 12));
    decipher.setAAD(Buffer.from('row-1')).setAuthTag(ciphertext.subarray(12, 28));
    expect(decipher.update(ciphertext.subarray(28), undefined, 'utf8') + decipher.final('utf8')).toBe(
      'hello',
    );
    expect(keyId).toBe('a');
  });

  it('never encrypts the same text to the same bytes', () => {
    const box = new SecretBox([key('a')]);
    expect(box.encrypt('same', 'row').ciphertext).not.toEqual(box.encrypt('same', 'row').ciphertext);
  });

  it('encrypts under the first key and decrypts under any', () => {
    const [old, fresh] = [key('old'), key('new')];
    const sealedBefore = new SecretBox([old]).encrypt('secret', 'row');
    const box = new SecretBox([fresh, old]);
    expect(box.currentKeyId).toBe('new');
    expect(box.encrypt('secret', 'row').keyId).toBe('new');
    expect(box.decrypt(sealedBefore, 'row')).toBe('secret');
  });

  it('refuses a ciphertext moved to another row', () => {
    const box = new SecretBox([key('a')]);
    expect(() => box.decrypt(box.encrypt('secret', 'row-1'), 'row-2')).toThrow(SecretUnreadable);
  });

  it('refuses every altered byte and any cut', () => {
    const box = new SecretBox([key('a')]);
    const sealed = box.encrypt('secret', 'row');
    for (let index = 0; index < sealed.ciphertext.length; index++) {
      const altered = Buffer.from(sealed.ciphertext);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      expect(() => box.decrypt({ ...sealed, ciphertext: altered }, 'row')).toThrow(SecretUnreadable);
      const cut = sealed.ciphertext.subarray(0, index);
      expect(() => box.decrypt({ ...sealed, ciphertext: cut }, 'row')).toThrow(SecretUnreadable);
    }
  });

  it('names the missing key, and nothing of the secret', () => {
    const sealed = new SecretBox([key('gone')]).encrypt('whsec_hidden', 'row');
    const box = new SecretBox([key('here')]);
    expect(() => box.decrypt(sealed, 'row')).toThrow('The key "gone" is not among the configured keys');
    expect(() => box.decrypt({ ...sealed, keyId: 'here' }, 'row')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('whsec_') }),
    );
  });

  it('needs at least one key, of 32 bytes, each with its own id', () => {
    expect(() => new SecretBox([])).toThrow('At least one key');
    expect(() => new SecretBox([{ id: 'a', key: randomBytes(16) }])).toThrow('32 bytes');
    expect(() => new SecretBox([key('a'), key('a')])).toThrow('id of its own');
  });
});
