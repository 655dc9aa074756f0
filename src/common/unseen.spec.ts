import { trimUnseen } from './unseen';

describe('trimUnseen', () => {
  it.each([
    ['a b', 'a b'],
    [' \u200b\u{e0020}a\u{e0020}\u00a0', 'a'],
    ['\u{1f600}\u{e0020}', '\u{1f600}'],
    ['\u200b \u200b', ''],
    ['', ''],
  ])('trims %j to %j', (text, trimmed) => {
    expect(trimUnseen(text)).toBe(trimmed);
  });

  // Each run of spaces was searched from each of its characters on: 40 s for the largest body.
  it('takes a time in proportion to the text', () => {
    const text = `a${' '.repeat(250_000)}b`;
    const startedAt = performance.now();
    expect(trimUnseen(text)).toBe(text);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
