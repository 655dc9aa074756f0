import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Message, Page } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { messagesKey } from '../inbox-cache';

/** Id of a conversation's newest message; null if it has no message, undefined if none was loaded. */
type MessageId = string | null | undefined;

const known = new Map<string, MessageId>();

/** Stores which message was the newest when the person began to write a reply. */
export function useKnownMessage(conversationId: string) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  return useMemo(() => {
    const newest = (): MessageId => {
      const pages = queries.getQueryData<InfiniteData<Page<Message>>>(
        messagesKey(workspaceId, conversationId),
      );
      return pages && (pages.pages[0]?.data[0]?.id ?? null);
    };
    return {
      newest,
      /** Must be called at each change of the text. */
      type: (text: string) => {
        if (text.trim() === '') known.delete(conversationId);
        else if (!known.has(conversationId)) known.set(conversationId, newest());
      },
      /** Must be called when the text is sent. Returns the stored id, and deletes it. */
      end: (): MessageId => {
        const message = known.has(conversationId) ? known.get(conversationId) : newest();
        known.delete(conversationId);
        return message;
      },
    };
  }, [queries, workspaceId, conversationId]);
}
