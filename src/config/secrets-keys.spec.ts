import { randomBytes } from 'node:crypto';
import { parseSecretsKeys } from './secrets-keys';

describe('parseSecretsKeys', () => {
  const base64 = randomBytes(32).toString('base64');

  it('keeps the order and decodes, padding optional, spaces around entries ignored', () => {
    const ring = parseSecretsKeys(`2026-b:${base64}, old_A:${base64.replace('=', '')}`);
    expect(ring.map(({ id }) => id)).toEqual(['2026-b', 'old_A']);
    expect(ring.map(({ key: bytes }) => bytes.toString('base64'))).toEqual([base64, base64]);
  });

  it.each([
    ['', 'key 1 is empty'],
    [`a:${base64},`, 'key 2 is empty'],
    [base64, 'key 1 is not of the form id:base64'],
    [`:${base64}`, 'the id of key 1 must be'],
    [`a b:${base64}`, 'the id of key 1 must be'],
    [`${'x'.repeat(33)}:${base64}`, 'the id of key 1 must be'],
    [`a:${base64},a:${base64}`, 'the id "a" is given twice'],
    ['a:c2hvcnQ=', 'the value of "a" is 5 bytes long instead of 32'],
    [`a:${base64.slice(1)}!`, 'the value of "a" is not base64'],
    ['a:', 'the value of "a" is 0 bytes long instead of 32'],
  ])('refuses %j', (text, message) => {
    expect(() => parseSecretsKeys(text)).toThrow(message);
  });

  it('names all faults at once and repeats no key', () => {
    const attempt = () => parseSecretsKeys(`${base64}:x,b:c2hvcnQ=,c`);
    expect(attempt).toThrow(/key 1.*"b" is 5 bytes.*key 3/);
    expect(attempt).toThrow(expect.objectContaining({ message: expect.not.stringContaining(base64) }));
  });
});
