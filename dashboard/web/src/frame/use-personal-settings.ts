import { useMantineColorScheme } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import type { Person } from '../api/types';
import { useLocale } from '../i18n/locale';
import { useChooseLocale } from '../i18n/locale-choice';

/** Shows the language and the theme that the person chose, in this or another browser. */
export function usePersonalSettings({ locale, theme }: Person): void {
  const { setColorScheme } = useMantineColorScheme();
  const chooseLocale = useChooseLocale();
  const shown = useLocale();

  // Mantine's function is another one after each render, and to call it makes the browser restyle the page.
  const showTheme = useEffectEvent(() => setColorScheme(theme));
  useEffect(() => showTheme(), [theme]);
  useEffect(() => {
    if (locale && locale !== shown) void chooseLocale(locale);
    // A change of `shown` does not count: a choice on the account page is shown before it is stored.
  }, [locale]);
}
