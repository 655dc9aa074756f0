import { de } from './de';
import { en } from './en';
import { chooseTag, loadLocale, plural, withRegion } from './locale';

it('takes the first language tag', () => {
  expect(chooseTag([undefined, '', 'de-AT', 'en'])).toBe('de-AT');
  expect(chooseTag(['no tag!', 'fr'])).toBe('fr');
  expect(chooseTag([undefined, ''])).toBe('en');
});

it("takes the visitor's region for the page's language", () => {
  expect(withRegion('en', ['fr-FR', 'en-GB', 'en-US'])).toBe('en-GB');
  expect(withRegion('de', ['en-GB'])).toBe('de');
  expect(withRegion('en-US', ['en-GB'])).toBe('en-US');
});

it('has German texts, and English ones for other languages', async () => {
  expect((await loadLocale('de-CH')).texts).toEqual(de);
  expect(await loadLocale('pt-BR')).toMatchObject({ tag: 'pt-BR', texts: en });
});

it("puts the page's own texts over them", async () => {
  const { texts } = await loadLocale('fr', { send: 'Envoyer' });
  expect(texts).toEqual({ ...en, send: 'Envoyer' });
});

it('chooses the plural form of the language', () => {
  const locale = { tag: 'en' };
  expect(plural(locale, en.unread, 1)).toBe('Open chat, 1 unread message');
  expect(plural(locale, en.unread, 2)).toBe('Open chat, 2 unread messages');
  const polish = { one: '{count} wiadomość', few: '{count} wiadomości', other: '{count} wiadomości.' };
  expect(plural({ tag: 'pl' }, polish, 3)).toBe('3 wiadomości');
  // A page may give one form for all numbers.
  expect(plural(locale, '{count} new', 5)).toBe('5 new');
});
