import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ApiError } from '../../../api/client';
import type { Message, SentMessage } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { type UnsentMessage, useUnsent } from './kept-replies';
import { addNewest } from '../inbox-cache';
import { refreshAfterAct } from '../list/cached-lists';
import { useUpdateConversation } from '../use-inbox';

const MAX_RETRIES = 1;

/** An unsent message, with what became of its last try. */
export interface Outgoing extends UnsentMessage {
  isSending: boolean;
  /** Error of the last try; null if it is not known, because the page was loaded since. */
  error: unknown;
}

/** Reports whether a message was refused because somebody else has answered since. */
export function isOvertaken({ error }: Pick<Outgoing, 'error'>): boolean {
  return error instanceof ApiError && error.reason.reason === 'colleague_replied';
}

/**
 * Sends messages of a conversation, in the order in which they were written. The server takes each key once,
 * so that a message can be tried again without arriving twice.
 * @param onClosed called after a message has closed the conversation
 */
export function useSending(conversationId: string, onClosed: () => void) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const { unsent, keep, remove, replace, takeBack } = useUnsent(conversationId);
  const update = useUpdateConversation(conversationId, onClosed);
  const mutationKey = ['send', workspaceId, conversationId];

  const { mutate } = useMutation({
    mutationKey,
    scope: { id: mutationKey.join() },
    mutationFn: ({ key, body, seenMessageId, repeatsId }: UnsentMessage) =>
      api.postOnce<SentMessage>(
        `/workspaces/${workspaceId}/conversations/${conversationId}/messages`,
        { body, seenMessageId, repeatsId },
        key,
      ),
    retry: (count, error) => count < MAX_RETRIES && error instanceof ApiError && error.status === 0,
    onError: (error) => {
      if (isOvertaken({ error })) void refreshAfterAct(queries, workspaceId, conversationId);
    },
    onSuccess: ({ message }, { key, closes, repeatsId = null }) => {
      const shown: Message = { ...message, repeatsId, firstBody: null };
      addNewest(queries, workspaceId, ['messages', conversationId], shown);
      remove(key);
      if (closes) update.mutate({ status: 'CLOSED' });
      void refreshAfterAct(queries, workspaceId, conversationId);
    },
  });

  const tries = useMutationState({
    filters: { mutationKey },
    select: ({ state }) => ({
      key: (state.variables as UnsentMessage | undefined)?.key,
      isSending: state.status === 'pending',
      error: state.error,
    }),
  });
  const outgoing = unsent.map((message): Outgoing => {
    const last = tries.findLast(({ key }) => key === message.key);
    return { ...message, isSending: last?.isSending ?? false, error: last?.error ?? null };
  });

  return {
    outgoing,
    closing: update,
    /** Sends a message, unless one with its key is on its way. */
    send: useCallback(
      (message: UnsentMessage) => {
        if (keep(message)) mutate(message);
      },
      [keep, mutate],
    ),
    retry: ({ isSending, error: _, ...message }: Outgoing) => {
      if (!isSending) mutate(message);
    },
    /** Sends a message although a colleague has replied since it was begun. */
    sendAnyway: ({ isSending, error: _, ...message }: Outgoing, seenMessageId: string) => {
      if (isSending) return;
      replace({ ...message, seenMessageId });
      mutate({ ...message, seenMessageId });
    },
    edit: takeBack,
  };
}
