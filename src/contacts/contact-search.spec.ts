import { areIndexable, contactSearchText, escapeLike, searchPatterns } from './contact-search';

const likesOf = (q: string) => searchPatterns(q).map(({ like }) => like);

describe('contact search', () => {
  it('takes wildcards literally', () => {
    expect(escapeLike('100%_a\\b')).toBe('100\\%\\_a\\\\b');
  });

  it.each(['mailto:Ana@example.com?subject=Hi', 'Ana <ana@example.com>', '<ana@example.com>'])(
    'looks for the address in %p',
    (q) => expect(likesOf(q)).toEqual(['%ana@example.com%']),
  );

  it('looks for digits only where the text can be part of a phone number', () => {
    expect(likesOf('Ana')).toEqual(['%ana%']);
    expect(likesOf('600 11')).toEqual(['%600 11%', '%\x01%60011%']);
  });

  it('does not look twice for what is nothing but digits', () => {
    expect(likesOf('60011')).toEqual(['%60011%']);
  });

  it('looks for a number with its country’s code also where it is stored without one', () => {
    expect(likesOf('+442079460958')).toEqual([
      '%+442079460958%',
      '%\x01%442079460958%',
      '%\x0102079460958\n%',
    ]);
  });

  it('keeps a line for each value and for each form of the digits', () => {
    expect(contactSearchText({ name: 'Đỗ', email: null, phone: '+44 020 7946' })).toBe(
      'do\n\n+44 020 7946\n\x01+440207946\n\x01+44207946\n',
    );
    expect(contactSearchText({ name: null, email: 'A@b.example', phone: '020 7946' })).toBe(
      '\na@b.example\n020 7946\n\x010207946\n',
    );
    expect(contactSearchText({ name: ' a\n\x01b', email: null, phone: 'x' })).toBe('a b\n\nx\n');
  });

  it.each(['Ana', 'Ян Ли', 'a b', 'qx-', '---', '王小明', '😀😀😀', '+34 60 01', '170'])(
    'has %p in the index of grams',
    (q) => expect(areIndexable(searchPatterns(q))).toBe(true),
  );

  it.each(['qx', 'e', 'Ян', '%', '😀😀', '17', '+17', '1-7'])('does not have %p in the index of grams', (q) =>
    expect(areIndexable(searchPatterns(q))).toBe(false),
  );
});
