import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useLocale, useTexts } from '../i18n/locale';
import { AwayNotice } from './away-notice';

export function RootLayout() {
  const locale = useLocale();
  const texts = useTexts();
  useEffect(() => {
    document.documentElement.lang = locale;
  }, [locale]);
  return (
    <>
      <a href="#content" className="skip-link">
        {texts.frame.skip}
      </a>
      <Outlet />
      <AwayNotice />
    </>
  );
}
