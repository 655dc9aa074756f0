import type { QueryClient } from '@tanstack/react-query';
import type { Conversation, InboxCounts, Message, SentReply, Workspace } from '../../../api/types';
import { addNewest, changeCached, keyOf, MAX_COUNT } from '../inbox-cache';
import { refreshList, rowsOf, showChange } from '../list/cached-lists';
import { endChange } from '../pending-changes';

/** Reports whether the page can show a reply's effects without reading the conversation again. */
export function canShowReply(queries: QueryClient, workspaceId: string, conversationId: string): boolean {
  const isLoaded = queries.getQueryData(keyOf(workspaceId, 'conversation', conversationId)) !== undefined;
  // Only the server knows whether the reply marks an unread conversation as read.
  return isLoaded && rowsOf(queries, workspaceId, conversationId).every(({ isUnread }) => !isUnread);
}

/**
 * Shows a sent reply: the customer waits no more, and the agent is assigned if the reply has assigned the
 * conversation to them.
 */
export function showReply(
  queries: QueryClient,
  { id: workspaceId, agentId }: Pick<Workspace, 'id' | 'agentId'>,
  conversationId: string,
  { message, assignmentEventId }: { message: Message } & Pick<SentReply, 'assignmentEventId'>,
): void {
  const { id: lastMessageId, body, createdAt } = message;
  const assigned = assignmentEventId === undefined ? {} : { assignedAgentId: agentId };
  const last = { lastMessageId, lastMessagePreview: body, lastMessageAt: createdAt };
  const answered = { waitingMessageId: null, waitingSince: null };
  const change = { ...last, ...answered, lastSenderAgentId: agentId, ...assigned };
  const isListed = rowsOf(queries, workspaceId, conversationId, 'active').length > 0;
  const isAnswer = rowsOf(queries, workspaceId, conversationId).some((row) => row.waitingMessageId !== null);
  addNewest(queries, workspaceId, ['messages', conversationId], message);
  // Answers of running reads may be older than the reply, so they get the change as well.
  endChange(showChange(queries, workspaceId, conversationId, change), false);
  void refreshList(queries, workspaceId, isListed ? [] : [conversationId]);
  const isAssignment = assignmentEventId !== undefined;
  const conversationKey = keyOf(workspaceId, 'conversation', conversationId);
  const isOpen = queries.getQueryData<Conversation>(conversationKey)?.status === 'OPEN';
  countReply(queries, workspaceId, { isAnswer, isAssignment: isAssignment && isOpen });
  if (!isAssignment) return;
  // The new `updatedAt` makes the page read the conversation's changes again.
  const updated = { ...assigned, updatedAt: createdAt };
  changeCached<Conversation>(queries, conversationKey, (conversation) => ({ ...conversation, ...updated }));
}

/** Changes the counts of conversations by a reply, which its sender's stream of changes does not report. */
function countReply(
  queries: QueryClient,
  workspaceId: string,
  { isAnswer, isAssignment }: { isAnswer: boolean; isAssignment: boolean },
): void {
  const countsKey = ['workspaces', workspaceId, 'conversations/counts', {}];
  const add = (count: number, more: number) => (count > MAX_COUNT ? count : Math.max(0, count + more));
  changeCached<InboxCounts>(queries, countsKey, ({ mine, nobody, waiting, ...others }) => ({
    ...others,
    mine: add(mine, isAssignment ? 1 : 0),
    nobody: add(nobody, isAssignment ? -1 : 0),
    waiting: add(waiting, isAnswer ? -1 : 0),
  }));
}
