import { Injectable } from '@nestjs/common';
import { type Actor, agentOf, ConversationsService, NOBODY } from 'conversation-messaging-service';
import type { InboxCounts } from '../api';

/** Counts the open conversations of the inbox's views. */
@Injectable()
export class InboxViews {
  constructor(private readonly conversations: ConversationsService) {}

  async count(workspaceId: string, actor: Actor): Promise<InboxCounts> {
    const count = (assignedAgentId?: string) =>
      this.conversations.count(workspaceId, { status: 'OPEN', assignedAgentId }, actor);
    // One after the other: a request uses one connection.
    const mine = await count(agentOf(actor) ?? undefined);
    const nobody = await count(NOBODY);
    return { mine, nobody, all: await count() };
  }
}
