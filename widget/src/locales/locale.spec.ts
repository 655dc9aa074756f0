import { de } from './de';
import { en } from './en';
import { chooseTag, loadLocale, plural } from './locale';

it('takes the first language tag', () => {
  expect(chooseTag([undefined, '', 'de-AT', 'en'])).toBe('de-AT');
  expect(chooseTag(['no tag!', 'fr'])).toBe('fr');
  expect(chooseTag([undefined, ''])).toBe('en');
});

it('has German texts, and English ones for other languages', async () => {
  expect((await loadLocale('de-CH')).texts).toEqual(de);
  expect(await loadLocale('pt-BR')).toEqual({ tag: 'pt-BR', texts: en });
});

it("puts the page's own texts over them", async () => {
  const { texts } = await loadLocale('fr', { send: 'Envoyer' });
  expect(texts).toEqual({ ...en, send: 'Envoyer' });
});

it('chooses the plural form of the language', () => {
  const locale = { tag: 'en', texts: en };
  expect(plural(locale, en.unread, 1)).toBe('Open chat, 1 unread message');
  expect(plural(locale, en.unread, 2)).toBe('Open chat, 2 unread messages');
  const polish = { one: '{count} wiadomość', few: '{count} wiadomości', other: '{count} wiadomości.' };
  expect(plural({ tag: 'pl', texts: en }, polish, 3)).toBe('3 wiadomości');
  // A page may give one form for all.
  expect(plural(locale, '{count} new', 5)).toBe('5 new');
});
