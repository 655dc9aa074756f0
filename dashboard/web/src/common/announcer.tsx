import { Affix, Notification } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import { useTexts } from '../i18n/locale';

const SHOWN_MS = 6_000;

type Kind = 'done' | 'refusal';

const COLORS: Record<Kind, string> = { done: 'green.7', refusal: 'yellow.7' };

const AnnounceContext = createContext<(text: string, kind?: Kind) => void>(() => {});

/** Shows announcements of completed or refused acts, each for 6 seconds. Screen readers read them aloud. */
export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState<{ text: string; kind: Kind } | null>(null);
  const announce = useCallback((text: string, kind: Kind = 'done') => setSaid({ text, kind }), []);
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
            color={COLORS[said.kind]}
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
