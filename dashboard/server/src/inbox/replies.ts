import { Injectable } from '@nestjs/common';
import {
  type Actor,
  DraftsService,
  MessagesService,
  type SendReply,
  type SentMessageResponse,
} from 'conversation-messaging-service';
import type { IdempotentRequest } from 'conversation-messaging-service/http';

/** Sends the answers of agents. */
@Injectable()
export class Replies {
  constructor(
    private readonly messages: MessagesService,
    private readonly drafts: DraftsService,
  ) {}

  /**
   * Sends an answer, and then deletes its draft. If that fails, a page that tries again sends nothing twice.
   */
  async send(
    workspaceId: string,
    conversationId: string,
    body: SendReply,
    actor: Actor,
    request: IdempotentRequest | null,
  ): Promise<SentMessageResponse> {
    const sent = await this.messages.send(workspaceId, conversationId, body, actor, request);
    await this.drafts.deleteSent(workspaceId, conversationId, body.body, actor);
    return sent;
  }
}
