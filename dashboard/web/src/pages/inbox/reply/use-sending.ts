import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { useUpdateConversation } from '../use-inbox';
import { type UnsentMessage, useUnsent } from './kept-replies';
import { sendingOptions } from './sending-options';

export interface Outgoing extends UnsentMessage {
  isSending: boolean;
}

/** Returns a conversation's unsent messages, and functions that send them in the order of writing. */
export function useSending(conversationId: string, onClosed: () => void) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const { unsent, keep, change, takeBack } = useUnsent(conversationId);
  const closing = useUpdateConversation(conversationId, onClosed);
  const options = sendingOptions(queries, workspace, conversationId, () =>
    closing.mutate({ status: 'CLOSED' }),
  );
  const { mutationKey } = options;
  const { mutate } = useMutation(options);

  const onTheirWay = useMutationState({
    filters: { mutationKey, status: 'pending' },
    select: ({ state }) => (state.variables as UnsentMessage | undefined)?.key,
  });

  return {
    outgoing: unsent.map((message): Outgoing => ({
      ...message,
      isSending: onTheirWay.includes(message.key),
    })),
    closing,
    /** Stores a message and sends it, unless a message with its key is stored already. */
    send: useCallback(
      (message: UnsentMessage) => {
        if (keep(message)) mutate(message);
      },
      [keep, mutate],
    ),
    retry: ({ isSending, ...message }: Outgoing) => {
      if (!isSending) mutate(message);
    },
    /** Sends a message although a colleague has replied since the person began to write it. */
    sendAnyway: ({ isSending, ...message }: Outgoing, seenMessageId: string) => {
      if (isSending) return;
      change(message.key, { seenMessageId, failure: undefined });
      mutate({ ...message, seenMessageId });
    },
    edit: takeBack,
  };
}
