import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Locale } from '../api/types';
import type { Texts } from './texts-en';

export const LOCALES: readonly Locale[] = ['en', 'de'];

const STORAGE_KEY = 'dashboard-locale';

export function loadTexts(locale: Locale): Promise<Texts> {
  return locale === 'de'
    ? import('./texts-de').then(({ de }) => de)
    : import('./texts-en').then(({ en }) => en);
}

/**
 * Returns the language that was chosen in this browser before, else the first of the browser's languages for
 * which there are texts.
 */
export function guessLocale(): Locale {
  const remembered = localStorage.getItem(STORAGE_KEY);
  const wanted = [remembered, ...navigator.languages].map((language) => language?.slice(0, 2));
  return wanted.find(isLocale) ?? 'en';
}

export function rememberLocale(locale: Locale): void {
  localStorage.setItem(STORAGE_KEY, locale);
}

function isLocale(text: string | undefined): text is Locale {
  return LOCALES.includes(text as Locale);
}

const DAY_SECONDS = 86_400;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY_SECONDS],
  ['month', 30 * DAY_SECONDS],
  ['day', DAY_SECONDS],
  ['hour', 3600],
  ['minute', 60],
];

/** Makes the formats of dates and numbers in a language. */
function makeFormats(locale: Locale) {
  // The tag is the browser's own variant of the language, such as en-GB.
  const tag = navigator.languages.find((language) => language.startsWith(locale)) ?? locale;
  const moment = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'medium' });
  const minute = new Intl.DateTimeFormat(tag, { dateStyle: 'short', timeStyle: 'short' });
  const day = new Intl.DateTimeFormat(tag, { dateStyle: 'medium' });
  const shortDay = new Intl.DateTimeFormat(tag, { weekday: 'short', day: 'numeric' });
  const time = new Intl.DateTimeFormat(tag, { timeStyle: 'short' });
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const numbers = new Intl.NumberFormat(tag);
  const lists = new Intl.ListFormat(tag);
  return {
    /** Writes a time to the second. */
    moment: (at: string | number) => moment.format(new Date(at)),
    minute: (at: string | number) => minute.format(new Date(at)),
    day: (at: string | number) => day.format(new Date(at)),
    shortDay: (at: string | number) => shortDay.format(new Date(at)),
    time: (at: string | number) => time.format(new Date(at)),
    /**
     * Writes a time as `3 minutes ago`. Less than a minute ago is "now"; less than a minute ahead is counted
     * in seconds.
     */
    relative: (at: string, now: number) => {
      const seconds = Math.round((Date.parse(at) - now) / 1000);
      const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
      if (unit) return relative.format(Math.trunc(seconds / unit[1]), unit[0]);
      return seconds > 0 ? relative.format(seconds, 'second') : relative.format(0, 'second');
    },
    number: (value: number) => numbers.format(value),
    milliseconds: (value: number) => `${numbers.format(Math.round(value))} ms`,
    list: (items: string[]) => lists.format(items),
  };
}

interface Localized {
  locale: Locale;
  texts: Texts;
  formats: ReturnType<typeof makeFormats>;
}

const LocalizedContext = createContext<Localized | null>(null);

export function LocaleProvider({
  locale,
  texts,
  children,
}: {
  locale: Locale;
  texts: Texts;
  children: ReactNode;
}) {
  const value = useMemo(() => ({ locale, texts, formats: makeFormats(locale) }), [locale, texts]);
  return <LocalizedContext value={value}>{children}</LocalizedContext>;
}

function useLocalized(): Localized {
  const localized = useContext(LocalizedContext);
  if (!localized) throw new Error('There is no LocaleProvider above.');
  return localized;
}

export const useTexts = () => useLocalized().texts;
export const useFormats = () => useLocalized().formats;
export const useLocale = () => useLocalized().locale;
