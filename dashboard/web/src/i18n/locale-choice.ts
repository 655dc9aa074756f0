import { createContext, useContext } from 'react';
import type { Locale } from '../api/types';

export const LocaleChoice = createContext<(locale: Locale) => Promise<void>>(() => Promise.resolve());

export const useChooseLocale = () => useContext(LocaleChoice);
