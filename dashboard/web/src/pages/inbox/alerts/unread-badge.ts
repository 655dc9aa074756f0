import { useEffect } from 'react';
import plainMark from '../../../frame/mark.svg';
import unreadMark from '../../../frame/mark-unread.svg';
import { useTexts } from '../../../i18n/locale';
import { useUnread } from '../use-inbox';

/** Largest number of unread conversations that is shown. A larger one is shown as "more than 99". */
const MAX_WRITTEN = 99;

/** Shows in the browser's tab the number of unread conversations that are the person's own or unassigned. */
export function useBadge(): void {
  const { inbox, frame } = useTexts();
  const count = useUnread().data?.count ?? 0;
  useEffect(() => {
    const written = count > MAX_WRITTEN ? inbox.moreThan(`${MAX_WRITTEN}`) : `${count}`;
    document.title = `${count > 0 ? `(${written}) ` : ''}${inbox.title} · ${frame.product}`;
    setMark(count > 0 ? unreadMark : plainMark);
    return () => setMark(plainMark);
  }, [count, inbox, frame]);
}

function setMark(address: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (link && !link.href.endsWith(address)) link.href = address;
}
