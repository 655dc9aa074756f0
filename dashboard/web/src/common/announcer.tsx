import { Affix, Notification } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import { useTexts } from '../i18n/locale';

const SHOWN_MS = 6_000;

const AnnounceContext = createContext<(text: string) => void>(() => {});

/** Announces for a few seconds what was done, visibly and to screen readers. */
export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState<{ text: string } | null>(null);
  const announce = useCallback((text: string) => setSaid({ text }), []);
  const texts = useTexts();

  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);

  return (
    <AnnounceContext value={announce}>
      {children}
      <Affix position={{ bottom: 16, right: 16 }} role="status" zIndex={400}>
        {said && (
          <Notification
            color="green.7"
            withBorder
            role={undefined}
            onClose={() => setSaid(null)}
            closeButtonProps={{ 'aria-label': texts.common.close }}
          >
            {said.text}
          </Notification>
        )}
      </Affix>
    </AnnounceContext>
  );
}

export const useAnnounce = () => useContext(AnnounceContext);
