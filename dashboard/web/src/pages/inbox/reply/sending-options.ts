import type { MutationOptions, QueryClient } from '@tanstack/react-query';
import { api, ApiError } from '../../../api/client';
import type { Message, SentReply, Workspace } from '../../../api/types';
import { refreshAfterAct } from '../list/cached-lists';
import { withOwnEvents } from '../live/own-events';
import { toFailure } from './kept-failure';
import { type ChosenFile, type UnsentMessage, unsentOf } from './kept-replies';
import { canShowReply, showReply } from './show-reply';

const MAX_RETRIES = 1;

/** Reports whether the server refused a message because a colleague has replied meanwhile. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && error.reason.reason === 'colleague_replied';
}

export function sendingKey(workspaceId: string, conversationId: string): string[] {
  return ['send', workspaceId, conversationId];
}

/** Returns a message's text and uploads. A message with files alone has no text. */
function contentOf(body: string, files: ChosenFile[] = []) {
  if (files.length === 0) return { body };
  const attachments = files.map(({ upload, caption }) => ({
    uploadId: upload!.id,
    caption: caption.trim() || undefined,
  }));
  return { body: body || undefined, attachments };
}

/** Returns the options of a mutation that sends messages one by one, each under its idempotency key. */
export function sendingOptions(
  queries: QueryClient,
  workspace: Pick<Workspace, 'id' | 'agentId'>,
  conversationId: string,
  close: () => void,
) {
  const { id: workspaceId } = workspace;
  const { change, remove } = unsentOf(workspace, conversationId);
  const mutationKey = sendingKey(workspaceId, conversationId);
  return {
    mutationKey,
    scope: { id: mutationKey.join() },
    mutationFn: ({ key, body, files, seenMessageId, repeatsId }) => {
      const path = `/workspaces/${workspaceId}/conversations/${conversationId}/messages`;
      const sent = api.postOnce<SentReply>(
        path,
        { ...contentOf(body, files), seenMessageId, repeatsId },
        key,
      );
      return withOwnEvents(sent, ({ message, assignmentEventId }) =>
        // A resend also changes the failed message. No event ids are stored, so that the page reads both.
        repeatsId === undefined && canShowReply(queries, workspaceId, conversationId)
          ? [message.id, ...(assignmentEventId === undefined ? [] : [assignmentEventId])]
          : [],
      );
    },
    retry: (count, error) => count < MAX_RETRIES && error instanceof ApiError && error.status === 0,
    onError: (error, { key }) => {
      change(key, { failure: toFailure(error) });
      if (isOvertaken(error)) void refreshAfterAct(queries, workspaceId, conversationId);
    },
    onSuccess: (sent, { key, closes, repeatsId = null }) => {
      const message: Message = { ...sent.message, repeatsId, isDismissed: false, firstBody: null };
      showReply(queries, workspace, conversationId, { ...sent, message });
      remove(key);
      if (closes) close();
    },
  } satisfies MutationOptions<SentReply, Error, UnsentMessage>;
}
