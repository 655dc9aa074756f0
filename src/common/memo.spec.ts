import { Memo } from './memo';

describe('memo', () => {
  it('makes a value once, and again after it had too many others to remember', () => {
    const memo = new Memo<string>(2);
    let made = 0;
    const get = (key: string) => memo.get(key, () => `${key}${++made}`);
    expect([get('a'), get('b'), get('a'), get('b')]).toEqual(['a1', 'b2', 'a1', 'b2']);
    expect([get('c'), get('a'), get('c')]).toEqual(['c3', 'a4', 'c3']);
  });

  it('finds what was set last, and forgets the oldest when it is full', () => {
    const memo = new Memo<number>(2);
    memo.set('a', 1);
    memo.set('b', 2);
    memo.set('a', 3);
    expect(['a', 'b', 'c'].map((key) => memo.find(key))).toEqual([3, 2, undefined]);
    memo.set('c', 4);
    expect(['a', 'b', 'c'].map((key) => memo.find(key))).toEqual([undefined, 2, 4]);
  });

  it('remembers no error', () => {
    const memo = new Memo<string>(2);
    const fail = () => {
      throw new Error('no');
    };
    expect(() => memo.get('a', fail)).toThrow('no');
    expect(memo.get('a', () => 'yes')).toBe('yes');
  });
});
