import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Locale } from '../api/types';
import { makeFormats } from './formats';
import type { Texts } from './texts-en';

export const LOCALES: readonly Locale[] = ['en', 'de'];

const STORAGE_KEY = 'dashboard-locale';

export function loadTexts(locale: Locale): Promise<Texts> {
  return locale === 'de'
    ? import('./texts-de').then(({ de }) => de)
    : import('./texts-en').then(({ en }) => en);
}

/** Returns the language chosen in this browser, else the browser's first that has texts, else English. */
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
  const value = useMemo(
    () => ({ locale, texts, formats: makeFormats(locale, navigator.languages) }),
    [locale, texts],
  );
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
