import { BODY_LIMITS, requireWithinLimit } from './body-limits';

describe('body limits', () => {
  it.each([
    ['INSTAGRAM', 'a'.repeat(1000), true],
    ['INSTAGRAM', 'a'.repeat(1001), false],
    ['INSTAGRAM', 'é'.repeat(500), true],
    ['INSTAGRAM', 'é'.repeat(501), false],
    ['MESSENGER', '😀'.repeat(2000), true],
    ['MESSENGER', 'a'.repeat(2001), false],
    ['WHATSAPP', 'a'.repeat(4096), true],
    ['TELEGRAM', 'a'.repeat(4096), true],
    ['WIDGET', 'a'.repeat(4096), true],
  ] as const)('%s %#: fits %s', (channel, body, fits) => {
    const limited = expect(() => requireWithinLimit(channel, body));
    (fits ? limited.not : limited).toThrow();
  });

  it('are described, the smallest first', () => {
    expect(BODY_LIMITS).toBe('Instagram 1000 UTF-8 bytes, Messenger 2000 characters');
  });

  it('names the limit', () => {
    expect(() => requireWithinLimit('INSTAGRAM', 'a'.repeat(1001))).toThrow(
      'body is longer than the 1000 UTF-8 bytes that INSTAGRAM takes.',
    );
  });
});
