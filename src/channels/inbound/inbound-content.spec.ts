import { contentOf, customerOf } from './inbound-content';

const LONE = '\uD83D';

describe("what is stored of a customer's message", () => {
  it('is its text, as it is', () => {
    expect(contentOf({ body: ' Grüße \u{1F44B}\n', metadata: null })).toEqual({
      body: ' Grüße \u{1F44B}\n',
      metadata: null,
    });
  });

  it.each([
    ['a NUL', 'a\0b', 'a\uFFFDb'],
    ['half of a surrogate pair', `a${LONE}b`, 'a\uFFFDb'],
    ['nothing', '', '[empty message]'],
    ['blanks', ' \n\t', '[empty message]'],
  ])('has %s made storable', (_, body, stored) => {
    expect(contentOf({ body, metadata: null })).toEqual({ body: stored, metadata: null });
  });

  it('is cut at 4096 characters, and the whole text kept beside it', () => {
    const longest = '\u{1F44B}'.repeat(4096);
    expect(contentOf({ body: longest, metadata: null })).toEqual({ body: longest, metadata: null });
    expect(contentOf({ body: `${longest}!`, metadata: { kind: 'text' } })).toEqual({
      body: `${'\u{1F44B}'.repeat(4095)}…`,
      metadata: { kind: 'text', wholeBody: `${longest}!` },
    });
  });

  it('has metadata that PostgreSQL can keep, keys too', () => {
    const metadata = { 'a\0': [`b${LONE}`, 'c\\u0000', '\u{1F44B}', 'd"\n'] };
    expect(contentOf({ body: 'x', metadata }).metadata).toEqual({
      'a\uFFFD': ['b\uFFFD', 'c\\u0000', '\u{1F44B}', 'd"\n'],
    });
  });

  it('says so when metadata is nested too deep to be kept', () => {
    let metadata: object = {};
    for (let depth = 0; depth < 100_000; depth++) metadata = { metadata };
    expect(contentOf({ body: 'x', metadata }).metadata).toEqual({ omitted: 'nested more than 50 deep' });
  });
});

describe('a customer', () => {
  it('is called what the channel says, within bounds', () => {
    const customer = { externalId: '1', name: ` Zoë\0${'x'.repeat(300)}`, phone: '+49 176 1234' };
    const { name, phone } = customerOf(customer);
    expect(name).toBe(`Zoë\uFFFD${'x'.repeat(195)}…`);
    expect(phone).toBe('+49 176 1234');
  });

  it('may have no name', () => {
    expect(customerOf({ externalId: '1', name: '  ', phone: null })).toEqual({ name: null, phone: null });
  });
});
