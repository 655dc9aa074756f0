import { storableContent, storableCustomer, storableReactions } from './inbound-content';

const LONE = '\uD83D';

describe("the stored content of a customer's message", () => {
  it('is its unchanged text', () => {
    expect(storableContent({ body: ' Grüße \u{1F44B}\n', metadata: null })).toEqual({
      body: ' Grüße \u{1F44B}\n',
      metadata: null,
    });
  });

  it.each([
    ['a NUL', 'a\0b', 'a\uFFFDb'],
    ['half of a surrogate pair', `a${LONE}b`, 'a\uFFFDb'],
    ['nothing', '', '[empty message]'],
    ['blanks', ' \n\t', '[empty message]'],
  ])('replaces %s', (_, body, stored) => {
    expect(storableContent({ body, metadata: null })).toEqual({ body: stored, metadata: null });
  });

  it('is cut at 4096 characters, and keeps the whole text in the metadata', () => {
    const longest = '\u{1F44B}'.repeat(4096);
    expect(storableContent({ body: longest, metadata: null })).toEqual({ body: longest, metadata: null });
    expect(storableContent({ body: `${longest}!`, metadata: { kind: 'text' } })).toEqual({
      body: `${'\u{1F44B}'.repeat(4095)}…`,
      metadata: { kind: 'text', wholeBody: `${longest}!` },
    });
  });

  it('has metadata that PostgreSQL can store, keys too', () => {
    const metadata = { 'a\0': [`b${LONE}`, 'c\\u0000', '\u{1F44B}', 'd"\n'] };
    expect(storableContent({ body: 'x', metadata }).metadata).toEqual({
      'a\uFFFD': ['b\uFFFD', 'c\\u0000', '\u{1F44B}', 'd"\n'],
    });
  });

  it('omits metadata that is nested too deep, and says so', () => {
    let metadata: object = {};
    for (let depth = 0; depth < 100_000; depth++) metadata = { metadata };
    expect(storableContent({ body: 'x', metadata }).metadata).toEqual({
      omitted: 'nested more than 50 deep',
    });
  });
});

describe('a customer', () => {
  it('has the name and phone of the channel, cut to their limits', () => {
    const customer = { externalId: '1', name: ` Zoë\0${'x'.repeat(300)}`, phone: '+49 176 1234' };
    const { name, phone } = storableCustomer(customer);
    expect(name).toBe(`Zoë\uFFFD${'x'.repeat(195)}…`);
    expect(phone).toBe('+49 176 1234');
  });

  it('may have no name', () => {
    expect(storableCustomer({ externalId: '1', name: '  ', phone: null })).toEqual({
      name: null,
      phone: null,
    });
  });
});

describe('the stored reactions of a customer', () => {
  it('are few and short, and each is there once (public report 8)', () => {
    expect(storableReactions(['👍', 'custom emoji', '👍', 'custom emoji'])).toEqual(['👍', 'custom emoji']);
    expect(storableReactions([' ', '', LONE, 'x'.repeat(99)])).toEqual(['\uFFFD', `${'x'.repeat(39)}…`]);
    expect(storableReactions(Array.from({ length: 20 }, (_, n) => `${n}`))).toHaveLength(10);
  });
});
