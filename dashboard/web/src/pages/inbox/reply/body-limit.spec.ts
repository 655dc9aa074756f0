import { measureBody } from './body-limit';

describe('the length of a reply', () => {
  it.each([
    ['WIDGET', 'Grüße 👍', 7, 4096, 'characters'],
    ['WHATSAPP', '👍👍', 2, 4096, 'characters'],
    ['TELEGRAM', '', 0, 4096, 'characters'],
    ['MESSENGER', 'Grüße 👍', 7, 2000, 'characters'],
    ['INSTAGRAM', 'Grüße 👍', 12, 1000, 'UTF-8 bytes'],
  ] as const)('on %s, of %j, is %i of %i %s', (channel, body, used, max, unit) => {
    expect(measureBody(channel, body)).toEqual({ used, max, unit });
  });
});
