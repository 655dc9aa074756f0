import { isNoReply } from './is-no-reply';

describe('a text', () => {
  it.each(['', '  \n', '/', '/hours', ' /hours ', '/öffnung'])('that is no reply: %j', (text) => {
    expect(isNoReply(text)).toBe(true);
  });

  it.each(['Hello', '/hours are on the page', 'see /hours', '/hours\nHello', '1/2'])(
    'that is one: %j',
    (text) => {
      expect(isNoReply(text)).toBe(false);
    },
  );
});
