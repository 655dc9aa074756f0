import { countCharacters, partsOf, storable } from './text';

const linksOf = (body: string) => partsOf(body).flatMap(({ href }) => href ?? []);

describe('partsOf', () => {
  it('keeps every character of the text', () => {
    const body = 'See https://a.example/x?y=1, or (http://b.example/(c)). Write to zoë me@a.example!';
    expect(
      partsOf(body)
        .map(({ text }) => text)
        .join(''),
    ).toBe(body);
  });

  it.each([
    ['https://shop.example/a.', ['https://shop.example/a']],
    ['(https://shop.example/a)', ['https://shop.example/a']],
    ['https://shop.example/a_(b)', ['https://shop.example/a_(b)']],
    ['HTTP://SHOP.EXAMPLE', ['http://shop.example/']],
    ['write to me@shop.example, please', ['mailto:me@shop.example']],
    ['mailto:me@shop.example', ['mailto:me@shop.example']],
  ])('finds the links of %s', (body, links) => {
    expect(linksOf(body)).toEqual(links);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'javascript://https:',
    'https://',
    'www',
    'a@b',
    '',
  ])('makes no link of %s', (body) => {
    expect(linksOf(body)).toEqual([]);
  });

  it('takes a long text without blanks in no time', () => {
    const started = performance.now();
    for (const piece of ['a', 'a.', '@', 'https://', '(', 'a@a.']) partsOf(piece.repeat(4096 / piece.length));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

it('counts characters as the service does', () => {
  expect(countCharacters('añ😀')).toBe(3);
  expect(countCharacters('👩‍👩‍👧')).toBe(5);
});

it('leaves only what the service can store', () => {
  expect(storable('a\0b\uD83D😀\uDE00')).toBe('ab\uFFFD😀\uFFFD');
});
