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
    ['詳しくはhttps://example.com/help。ご覧ください', 'https://example.com/help'],
    ['https://example.com/guide，详见', 'https://example.com/guide'],
    ['«https://example.com/b»', 'https://example.com/b'],
    ['https://example.com/b—c', 'https://example.com/b'],
    ['（https://example.com/b）を', 'https://example.com/b'],
    ['“https://example.com/b”', 'https://example.com/b'],
    ['„https://example.com/b“', 'https://example.com/b'],
    ['「https://example.com/b」', 'https://example.com/b'],
    ['https://example.com/a、https://example.com/b', 'https://example.com/a'],
    ['https://example.com/b؟', 'https://example.com/b'],
    ['https://example.com/b، ثم', 'https://example.com/b'],
    ['देखें https://example.com/b।', 'https://example.com/b'],
    ['https://example.com/b። ', 'https://example.com/b'],
    ['https://example.com/b։', 'https://example.com/b'],
    ['https://example.com/b…', 'https://example.com/b'],
    ['https://example.com/b～c', 'https://example.com/b'],
    ['https://example.com/b👍', 'https://example.com/b'],
    ['\u200fhttps://example.com/b\u200f', 'https://example.com/b'],
    ['https://example.com/b\u200bc', 'https://example.com/b'],
    ['https://example.com/b\u3000次', 'https://example.com/b'],
    ['`https://example.com/b`', 'https://example.com/b'],
    ['_https://example.com/b_', 'https://example.com/b'],
    ['https://example.comをご覧ください', 'https://example.com/'],
    ['https://example.co.kr에서', 'https://example.co.kr/'],
    ['https://example.comดูที่นี่', 'https://example.com/'],
    ['メールはinfo@example.comまで', 'mailto:info@example.com'],
    ['邮箱：info@example.com。', 'mailto:info@example.com'],
  ])('ends the link of %s where punctuation or another word begins (public report 54)', (body, link) => {
    expect(linksOf(body)[0]).toBe(link);
  });

  it.each([
    ['https://de.wikipedia.org/wiki/Köln_(Begriffsklärung)', 'Köln_(Begriffsklärung)'],
    ['(https://en.wikipedia.org/wiki/Tea_(drink)).', 'Tea_(drink)'],
    ['https://ja.wikipedia.org/wiki/日本茶。', '日本茶'],
    ['https://ja.wikipedia.org/wiki/%E3%80%8C%E8%8C%B6%E3%80%8D。', '%E3%80%8C%E8%8C%B6%E3%80%8D'],
    ['https://fa.wikipedia.org/wiki/می\u200cخوش؟', 'می\u200cخوش'],
    ['https://hi.wikipedia.org/wiki/चाय।', 'चाय'],
    ['https://shop.example/tea/', 'tea/'],
    ['https://shop.example/tea/?a=[1]&b={2}#/c!', 'tea/?a=[1]&b={2}#/c'],
    ['https://shop.example/~anna/a,b;c@d:e', 'a,b;c@d:e'],
  ])('keeps what belongs to the address of %s (public report 54)', (body, end) => {
    const part = partsOf(body).find(({ href }) => href)!;
    expect(part.text.endsWith(`/${end}`)).toBe(true);
  });

  it.each([
    ['https://例え.テスト/茶', 'https://xn--r8jz45g.xn--zckzah/%E8%8C%B6'],
    ['https://www.stärke.example', 'https://www.xn--strke-hra.example/'],
    ['http://[2001:db8::1]/', 'http://[2001:db8::1]/'],
    ['müller@bücher.example', 'mailto:m%C3%BCller@b%C3%BCcher.example'],
  ])('finds the international address %s', (body, link) => {
    expect(linksOf(body)).toEqual([link]);
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
    for (const piece of ['a', 'a.', '@', 'https://', '(', ')', 'a@a.', '。', 'https://a.com'])
      partsOf(piece.repeat(4096 / piece.length));
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
