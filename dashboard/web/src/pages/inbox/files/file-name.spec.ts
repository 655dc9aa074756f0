import { nameToStore } from './file-name';

describe('the name of a file', () => {
  it('is kept up to 255 characters', () => {
    const name = `${'ص'.repeat(251)}.jpg`;
    expect([nameToStore(name), nameToStore(' a.jpg ')]).toEqual([name, 'a.jpg']);
  });

  it('is shortened before its ending', () => {
    expect(nameToStore(`${'ص'.repeat(300)}.jpg`)).toBe(`${'ص'.repeat(251)}.jpg`);
    expect(nameToStore('😀'.repeat(300))).toBe('😀'.repeat(255));
    expect(nameToStore(`a.${'b'.repeat(300)}`)).toBe(`a.${'b'.repeat(253)}`);
  });

  it('is never empty', () => {
    expect(nameToStore('  ')).toBe('file');
  });
});
