import { generateApiKey, hashApiKey, isWellFormedApiKey } from './api-key-token';

describe('API key token', () => {
  it('is plk_ and 40 base62 characters, never the same twice', () => {
    const keys = Array.from({ length: 200 }, generateApiKey);
    expect(keys.every((key) => /^plk_[0-9A-Za-z]{40}$/.test(key))).toBe(true);
    expect(keys.every(isWellFormedApiKey)).toBe(true);
    expect(new Set(keys).size).toBe(200);
  });

  it('is refused when any one character of it is mistyped', () => {
    const key = generateApiKey();
    for (let at = 4; at < key.length; at++) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  it.each([
    '',
    'plk_',
    'plk_short',
    `xxx_${'a'.repeat(40)}`,
    `plk_${'a'.repeat(39)}-`,
    ` ${generateApiKey()}`,
  ])('refuses %p', (text) => expect(isWellFormedApiKey(text)).toBe(false));

  it('hashes with SHA-256', () => {
    expect(hashApiKey('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
