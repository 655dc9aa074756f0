import { makePreview } from './preview';

describe('preview', () => {
  it('keeps a short message, on one line', () => {
    expect(makePreview('  Hello,\n\n\tworld ')).toBe('Hello, world');
  });

  it('takes the first 140 characters', () => {
    expect(makePreview('a'.repeat(141))).toBe('a'.repeat(140));
  });

  it('counts characters, not the units that a string is made of', () => {
    expect(makePreview('😀'.repeat(140))).toBe('😀'.repeat(140));
    expect(makePreview('😀'.repeat(141))).toBe('😀'.repeat(140));
  });

  it('never cuts inside a grapheme', () => {
    const family = '👨‍👩‍👧‍👦';
    expect(makePreview('a'.repeat(135) + family + 'b')).toBe('a'.repeat(135));
    expect(makePreview('a'.repeat(139) + 'e\u0301' + 'bc')).toBe('a'.repeat(139));
  });
});
