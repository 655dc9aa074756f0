import { escapeLike, isIndexable, phoneDigits, searchPatterns, searchTerm } from './contact-search';

describe('contact search', () => {
  it('takes wildcards literally', () => {
    expect(escapeLike('100%_a\\b')).toBe('100\\%\\_a\\\\b');
  });

  it.each([
    ['+34 600-11.22', '346001122'],
    ['(020) 7946', '0207946'],
    ['ana 2', null],
    ['+-()', null],
  ])('digits of %p: %p', (text, digits) => expect(phoneDigits(text)).toBe(digits));

  it('looks for digits only where the text can be part of a phone number', () => {
    expect(searchPatterns(searchTerm('Ana'))).toEqual(['%Ana%']);
    expect(searchPatterns(searchTerm('600 11'))).toEqual(['%600 11%', '%\x01%60011%']);
  });

  it('does not look twice for what is nothing but digits', () => {
    expect(searchPatterns(searchTerm('60011'))).toEqual(['%60011%']);
  });

  it.each(['Ana', 'Ян Ли', 'a b', 'qx-', '---', '王小明', '😀😀😀', '+34 60 01', '170'])(
    'has %p in the index of grams',
    (q) => expect(isIndexable(searchTerm(q))).toBe(true),
  );

  it.each(['qx', 'e', 'Ян', '%', '😀😀', '17', '+17', '1-7'])('does not have %p in the index of grams', (q) =>
    expect(isIndexable(searchTerm(q))).toBe(false),
  );
});
