import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { useUpdateConversation } from '../use-inbox';
import { toError } from './kept-failure';
import { type UnsentMessage, useUnsent } from './kept-replies';
import { sendingOptions } from './sending-options';

/** An unsent message, with what became of its last try. */
export interface Outgoing extends UnsentMessage {
  isSending: boolean;
  /** Error of the last try; null if none is known. */
  error: unknown;
}

/**
 * Sends messages of a conversation, in the order in which they were written.
 * @param onClosed called after a message has closed the conversation
 */
export function useSending(conversationId: string, onClosed: () => void) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const { unsent, keep, replace, takeBack } = useUnsent(conversationId);
  const closing = useUpdateConversation(conversationId, onClosed);
  const options = sendingOptions(queries, workspace, conversationId, () =>
    closing.mutate({ status: 'CLOSED' }),
  );
  const { mutationKey } = options;
  const { mutate } = useMutation(options);

  const tries = useMutationState({
    filters: { mutationKey },
    select: ({ state }) => ({
      key: (state.variables as UnsentMessage | undefined)?.key,
      isSending: state.status === 'pending',
    }),
  });
  const outgoing = unsent.map((message): Outgoing => {
    const last = tries.findLast(({ key }) => key === message.key);
    return {
      ...message,
      isSending: last?.isSending ?? false,
      error: message.failure ? toError(message.failure) : null,
    };
  });

  return {
    outgoing,
    closing,
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
      const answered = { ...message, seenMessageId, failure: undefined };
      replace(answered);
      mutate(answered);
    },
    edit: takeBack,
  };
}
