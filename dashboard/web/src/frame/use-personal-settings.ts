import { useMantineColorScheme } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import type { Person } from '../api/types';
import { useLocale } from '../i18n/locale';
import { useChooseLocale } from '../i18n/locale-choice';

/** Applies the language and the theme that the person chose, in this or another browser. */
export function usePersonalSettings({ locale, theme }: Person): void {
  const { setColorScheme } = useMantineColorScheme();
  const chooseLocale = useChooseLocale();
  const shown = useLocale();

  // An effect event, because Mantine makes a new function for each render and the effect must not rerun.
  const showTheme = useEffectEvent(() => setColorScheme(theme));
  useEffect(() => showTheme(), [theme]);
  useEffect(() => {
    if (locale && locale !== shown) void chooseLocale(locale);
    // Ignores changes of `shown`, because the account page shows a new language before `locale` changes.
  }, [locale]);
}
