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

  // An effect event, so that the effect does not run on each render: Mantine's function is new each time.
  const showTheme = useEffectEvent(() => setColorScheme(theme));
  useEffect(() => showTheme(), [theme]);
  useEffect(() => {
    if (locale && locale !== shown) void chooseLocale(locale);
    // Ignores changes of `shown`, because the account page shows a new language before `locale` changes.
  }, [locale]);
}
