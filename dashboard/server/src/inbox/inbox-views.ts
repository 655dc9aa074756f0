import { Injectable } from '@nestjs/common';
import {
  type Actor,
  agentOf,
  ConversationsService,
  type ListActiveConversationsQuery,
  NOBODY,
  type Page,
  ReadMarksService,
} from 'conversation-messaging-service';
import type { InboxConversation, InboxCounts } from '../api';

@Injectable()
export class InboxViews {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly readMarks: ReadMarksService,
  ) {}

  async list(
    workspaceId: string,
    query: ListActiveConversationsQuery,
    actor: Actor,
  ): Promise<Page<InboxConversation>> {
    const { data, nextCursor } = await this.conversations.listActive(workspaceId, query, actor);
    const ids = data.map(({ id }) => id);
    const unread = new Set(await this.readMarks.listUnread(workspaceId, ids, actor));
    return { data: data.map((one) => ({ ...one, isUnread: unread.has(one.id) })), nextCursor };
  }

  async count(workspaceId: string, actor: Actor): Promise<InboxCounts> {
    const count = (assignedAgentId?: string) =>
      this.conversations.count(workspaceId, { status: 'OPEN', assignedAgentId }, actor);
    // Sequential, because a request should use one database connection.
    const mine = await count(agentOf(actor) ?? undefined);
    const nobody = await count(NOBODY);
    const all = await count();
    const { count: waiting } = await this.conversations.countWaiting(workspaceId, actor);
    return { mine, nobody, all, waiting, lost: await this.conversations.countLost(workspaceId, actor) };
  }
}
