import { createHash } from 'node:crypto';
import { maskSecrets, maskUrls } from './masked-urls';

const digitsOf = (url: string) => createHash('sha256').update(url).digest('hex').slice(0, 8);

it.each([
  ['https://hooks.slack.com/services/T1/B2/kEy', 'hooks.slack.com/services/…'],
  ['https://shop.example:8443/hook', 'shop.example:8443/hook/…'],
  ['https://shop.example/hook?token=kEy', 'shop.example/hook/…'],
  ['https://shop.example/?token=kEy', 'shop.example/…'],
  ['https://shop.example/#kEy', 'shop.example/…'],
  ['https://user:kEy@shop.example/', 'shop.example/…'],
  ['HTTP://shop.example/a/kEy', 'shop.example/a/…'],
  ['https://webhook.example/o1kx9', 'webhook.example/…'],
  ['https://webhook.example/0b7f9a52-kEy-4f0e-9c1d-6a2f1e0d9c8b', 'webhook.example/…'],
])('%s becomes %s and digits', (url, begin) => {
  expect(maskUrls(url)).toBe(`${begin}${digitsOf(url)}`);
});

it.each([
  ['https://hooks.zapier.example/hooks/catch/1234567/o1kx9/', 'https://hooks.zapier.example/hooks/…'],
  ['https://hook.example/o1kx9', 'https://hook.example/…'],
  ['https://hook.example/kEyWithoutAnyDigit', 'https://hook.example/…'],
  ['https://hook.example/in/kEy', 'https://hook.example/in/…'],
  ['https://hook.example/in;kEy', 'https://hook.example/…'],
  ['https://hook.example//kEy', 'https://hook.example/…'],
  ['https://hook.example/%6b%45%79', 'https://hook.example/…'],
  ['https://kEy:kEy@hook.example/in', 'https://hook.example/in'],
  ['https://hook.example/?kEy#kEy', 'https://hook.example/?…#…'],
  ['https://shop.example:8443/webhooks', 'https://shop.example:8443/webhooks'],
  ['https://shop.example/', 'https://shop.example/'],
])('of %s a key that may not write sees %s', (url, shown) => {
  expect(maskSecrets(url)).toBe(shown);
});

it.each(['https://shop.example', 'https://shop.example/', 'http://', 'see https://shop.example', 'hook', ''])(
  '%j stays',
  (text) => expect(maskUrls(text)).toBe(text),
);

it('masks URLs within a text', () => {
  const url = 'https://shop.example/hook/kEy';
  expect(maskUrls(`see ${url}, or ask`)).toBe(`see ${maskUrls(`${url},`)} or ask`);
  expect(maskUrls(`see ${url}, or ask`)).not.toContain('kEy');
});

it('tells two URLs apart', () => {
  expect(maskUrls('https://shop.example/hook/1')).not.toBe(maskUrls('https://shop.example/hook/2'));
});

it('masks at any depth, and leaves everything else', () => {
  const url = 'https://shop.example/hook/1';
  const masked = maskUrls(url);
  const at = new Date(0);
  expect(maskUrls({ url, list: [{ url }, 1, null], at, active: true, none: undefined })).toEqual({
    url: masked,
    list: [{ url: masked }, 1, null],
    at,
    active: true,
    none: undefined,
  });
});
