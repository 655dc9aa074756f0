import { transportOptions } from './mailer';

describe('mails', () => {
  it.each([
    ['smtp://mail.example.com', true],
    ['smtp://user:word@10.0.0.7:587', true],
    ['smtp://[2001:db8::25]', true],
    ['smtps://mail.example.com', true],
    ['smtp://localhost.example.com', true],
    ['smtp://localhost:1025', false],
    ['smtp://127.0.0.9:25', false],
    ['smtp://[::1]:25', false],
    ['smtp://[::ffff:127.0.0.1]:25', false],
  ])('to %s need encryption: %s', (url, requireTLS) => {
    expect(transportOptions(url)).toMatchObject({ url, requireTLS });
  });
});
