import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, useState } from 'react';
import { makeQueryClient } from './api/query-client';
import { sessionQuery } from './api/session';
import type { Locale } from './api/types';
import { Announcer } from './common/announcer';
import { LocaleProvider, loadTexts, rememberLocale } from './i18n/locale';
import { LocaleChoice } from './i18n/locale-choice';
import type { Texts } from './i18n/texts-en';
import { styleNonce } from './nonce';
import { makeRouter } from './router';
import { cssVariables, theme } from './theme';

const OPEN_PATHS = ['/login', '/welcome', '/reset'];

const queryClient = makeQueryClient(() => {
  const { pathname, href } = router.latestLocation;
  // Before a session was loaded, nothing is done here, because the routes redirect to the login page.
  const hadSession = queryClient.getQueryData(sessionQuery.queryKey) !== undefined;
  if (!hadSession || OPEN_PATHS.includes(pathname)) return;
  void router.navigate({ to: '/login', search: { back: href } }).then(() => queryClient.clear());
});
const router = makeRouter(queryClient);

export function App({ first }: { first: { locale: Locale; texts: Texts } }) {
  const [shown, setShown] = useState(first);
  const choose = async (locale: Locale) => {
    rememberLocale(locale);
    setShown({ locale, texts: await loadTexts(locale) });
  };
  return (
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        deduplicateCssVariables={false}
        getStyleNonce={() => styleNonce}
      >
        <LocaleProvider {...shown}>
          <LocaleChoice value={choose}>
            <QueryClientProvider client={queryClient}>
              <Announcer>
                <RouterProvider router={router} />
              </Announcer>
            </QueryClientProvider>
          </LocaleChoice>
        </LocaleProvider>
      </MantineProvider>
    </StrictMode>
  );
}
