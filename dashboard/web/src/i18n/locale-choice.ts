import { createContext, useContext } from 'react';
import type { Locale } from '../api/types';

/** Provides the function that shows the page in another language. */
export const LocaleChoice = createContext<(locale: Locale) => Promise<void>>(() => Promise.resolve());

export const useChooseLocale = () => useContext(LocaleChoice);
