import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef } from 'react';
import { api, toQuery } from '../../../api/client';
import type { ActiveConversation, Page, UnreadConversation } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import { mayNotify, useAlertChoices } from './alert-choices';
import { playSound } from './alert-sound';
import { leads, onHandedOver } from '../live/live-state';
import { isVisible } from '../../../common/contact-name';
import { useCustomerWords } from '../placeholders';
import { useUnread } from '../use-inbox';

/** Largest number of notifications that are shown at once. */
const MAX_AT_ONCE = 3;
const MAX_NAME = 80;
/** Matches characters that reverse or break a text, because they could make a notification misleading. */
const CONTROLS = /[\p{Cc}\u200E\u200F\u061C\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

const lockOf = (conversationId: string) => `inbox-seen:${conversationId}`;

interface News {
  id: string;
  contactName: string | null;
  body: string;
}

/**
 * Alerts the person to new messages in conversations that are assigned to them or to no agent. Also alerts
 * them to conversations that were assigned to them or whose snooze has ended. Only the tab that holds the
 * stream of changes alerts. A conversation that is open in a focused tab causes no alert.
 */
export function useAlerts(): void {
  const { id: workspaceId, slug } = useWorkspace();
  const { inbox } = useTexts();
  const wordsOf = useCustomerWords();
  const navigate = useNavigate();
  const choices = useAlertChoices();
  const unread = useUnread().data;
  /** Id of the newest message in all answers so far; null before the first answer. */
  const known = useRef<string | null>(null);

  const notify = ({ id, contactName, body }: News) => {
    const title = isVisible(contactName) ? plainLine(contactName, MAX_NAME) : inbox.alerts.unnamed;
    // The tag makes a new notification replace an older one of the same conversation.
    const shown = new Notification(title, { body, tag: id, silent: true });
    shown.onclick = () => {
      window.focus();
      shown.close();
      void navigate({ to: '/w/$slug/inbox/$conversationId', params: { slug, conversationId: id } });
    };
  };
  const tell = async (news: News[]) => {
    const seen = await listSeen();
    const unseen = news.filter(({ id }) => !seen.has(lockOf(id))).slice(0, MAX_AT_ONCE);
    if (unseen.length === 0) return;
    if (choices.sound) await playSound();
    if (choices.notifications && mayNotify()) unseen.forEach(notify);
  };
  const tellWritten = useEffectEvent((written: UnreadConversation[]) =>
    tell(
      written.map(({ id, contactName, preview }) => {
        const words = choices.preview && plainLine(wordsOf(preview ?? ''));
        return { id, contactName, body: words || inbox.alerts.wrote };
      }),
    ),
  );
  const tellHandedOver = useEffectEvent(async (ids: string[]) => {
    if (!leads() || ids.length === 0 || !(choices.sound || choices.notifications)) return;
    const query = toQuery({ status: 'OPEN', ids, limit: ids.length });
    const path = `/workspaces/${workspaceId}/conversations${query}`;
    const { data } = await api.get<Page<ActiveConversation>>(path);
    await tell(data.map(({ id, contact }) => ({ id, contactName: contact.name, body: inbox.alerts.waits })));
  });

  useEffect(() => {
    if (!unread) return;
    const before = known.current;
    const newest = unread.latest[0]?.messageId ?? '';
    known.current = before !== null && before > newest ? before : newest;
    const written = unread.latest.filter(({ messageId }) => messageId !== null && messageId > (before ?? ''));
    if (before !== null && written.length > 0 && leads()) void tellWritten(written);
  }, [unread]);
  // If the conversations can't be loaded, there is no alert; the list shows them as unread.
  useEffect(() => onHandedOver((ids) => void tellHandedOver(ids).catch(() => undefined)), []);
}

/** Returns a text as one line without control characters, cut after `max` characters. */
function plainLine(text: string, max = Infinity): string {
  return [...text.replace(CONTROLS, ' ').trim()].slice(0, max).join('');
}

/** Holds a browser lock while the conversation is open in a focused tab, so that no tab alerts to it. */
export function useSeen(conversationId: string): void {
  useEffect(() => {
    const { locks } = navigator as Partial<Navigator>;
    let leaving: AbortController | undefined;
    const follow = () => {
      const isSeen = document.visibilityState === 'visible' && document.hasFocus();
      if (isSeen === (leaving !== undefined)) return;
      leaving?.abort();
      leaving = isSeen ? new AbortController() : undefined;
      if (leaving)
        void locks?.request(lockOf(conversationId), { mode: 'shared' }, untilAborted(leaving.signal));
    };
    follow();
    const events = ['focus', 'blur'] as const;
    for (const name of events) addEventListener(name, follow);
    document.addEventListener('visibilitychange', follow);
    return () => {
      for (const name of events) removeEventListener(name, follow);
      document.removeEventListener('visibilitychange', follow);
      leaving?.abort();
    };
  }, [conversationId]);
}

const untilAborted = (signal: AbortSignal) => () =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function listSeen(): Promise<Set<string | undefined>> {
  const { held = [] } = await navigator.locks.query();
  return new Set(held.map(({ name }) => name));
}
