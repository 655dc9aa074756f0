import { useDocumentVisibility, useIntersection } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { api } from '../../../api/client';
import type { Conversation, MarkRead } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useAnnounce } from '../../../common/announcer';
import { useTexts } from '../../../i18n/locale';
import { onHandedOver } from '../live/live-state';
import { endChange } from '../pending-changes';
import { refreshCounts } from '../inbox-cache';
import { isKnownRead, refreshList, showChange } from '../list/cached-lists';
import { useMessages, useRow } from '../use-inbox';

/** Shortest pause in milliseconds between two read marks that are sent for one conversation. */
const PAUSE_MS = 2_000;

/**
 * Marks the open conversation as read while its newest message is visible. Marks it once more after an
 * assignment to the person or the end of a snooze, because the server then counts it as unread. A
 * conversation that the person marks as unread stays so until they open it again.
 */
export function useReadMark({ id }: Conversation) {
  const { inbox } = useTexts();
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const [isHeld, setHeld] = useState(false);
  const { ref: endRef, entry } = useIntersection();
  const isVisible = useDocumentVisibility() === 'visible' && (entry?.isIntersecting ?? false);
  const messages = useMessages(id).items;
  // Takes the customer's newest message, because the server itself counts the person's own as read. If there
  // is none, takes the newest message, or else the conversation's id.
  const newest =
    messages && (messages.find(({ senderType }) => senderType === 'CUSTOMER') ?? messages[0] ?? { id }).id;
  const set = useSetMark(id);
  const marked = useRef({ id: '', at: -PAUSE_MS });

  useEffect(() => {
    if (!isVisible || isHeld || newest === undefined || newest <= marked.current.id) return undefined;
    const mark = () => {
      marked.current = { id: newest, at: performance.now() };
      if (!isKnownRead(queries, workspaceId, id, newest)) set({ messageId: newest });
    };
    const timer = setTimeout(mark, Math.max(0, marked.current.at + PAUSE_MS - performance.now()));
    return () => clearTimeout(timer);
  }, [isVisible, isHeld, newest, set, queries, workspaceId, id]);

  const readAgain = useEffectEvent((ids: string[]) => {
    if (!ids.includes(id)) return;
    if (isVisible && !isHeld && newest !== undefined) set({ messageId: newest });
    else marked.current = { id: '', at: marked.current.at };
  });
  useEffect(() => onHandedOver((ids) => readAgain(ids)), []);

  // Falls back on `isHeld`, because the conversation may have no row in the loaded lists.
  const isUnread = useRow(id)?.isUnread ?? isHeld;
  return {
    endRef,
    isUnread,
    toggle: () => {
      if (!isUnread) set(null);
      else if (messages) set({ messageId: (messages[0] ?? { id }).id });
      announce(isUnread ? inbox.markedRead : inbox.markedUnread);
      setHeld(!isUnread);
    },
  };
}

/** Returns a function that marks the conversation as read up to a message. Null marks it as unread. */
function useSetMark(conversationId: string): (mark: MarkRead | null) => void {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const path = `/workspaces/${workspaceId}/conversations/${conversationId}/read-mark`;
  const { mutate } = useMutation({
    mutationFn: (mark: MarkRead | null) => (mark ? api.put(path, mark) : api.delete(path)),
    // Marks of one conversation are sent one after the other, so that the last one counts.
    scope: { id: `read mark ${conversationId}` },
    onMutate: (mark) => showChange(queries, workspaceId, conversationId, { isUnread: mark === null }),
    onSuccess: (_answer, _mark, pending) => endChange(pending, false),
    onError: (_error, _mark, pending) => endChange(pending, true),
    onSettled: () =>
      Promise.all([refreshList(queries, workspaceId, [conversationId]), refreshCounts(queries, workspaceId)]),
  });
  return mutate;
}
