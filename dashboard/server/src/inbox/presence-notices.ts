import { Injectable } from '@nestjs/common';
import { PresenceService } from 'conversation-messaging-service';
import { CollectedNotices } from './collected-notices';

/** Notifies open inboxes that an agent or a visitor has opened, left or begun to write in a conversation. */
@Injectable()
export class PresenceNotices {
  constructor(private readonly presence: PresenceService) {}

  /**
   * Records for 40 s that agents of these workspaces have inboxes open, so that visitors see the workspaces
   * as online.
   */
  async keepOpen(workspaceIds: string[]): Promise<void> {
    await Promise.all(workspaceIds.map((id) => this.presence.keepInboxOpen(id)));
  }

  /**
   * Calls back with the ids of conversations whose presence has changed, at most five times a second. Null
   * means that the presence of any conversation may have changed.
   * @param agentId agent who receives the notices; the agent's own changes are left out
   * @returns a function that ends the calls
   */
  listen(
    workspaceId: string,
    agentId: string | undefined,
    callback: (conversationIds: string[] | null) => void,
  ): () => void {
    const notices = new CollectedNotices<string>(callback);
    const { stop } = this.presence.listen(workspaceId, (conversationId, by) => {
      if (by !== agentId) notices.note(conversationId);
    });
    return () => {
      notices.stop();
      stop();
    };
  }
}
