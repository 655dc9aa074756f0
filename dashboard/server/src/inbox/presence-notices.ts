import { Injectable } from '@nestjs/common';
import { PresenceService } from 'conversation-messaging-service';
import { CollectedNotices } from './collected-notices';

/** Tells open inboxes in which conversations an agent or a visitor has come, gone or begun to write. */
@Injectable()
export class PresenceNotices {
  constructor(private readonly presence: PresenceService) {}

  /** Tells visitors, for a while, that agents of these workspaces have their inboxes open. */
  async keepOpen(workspaceIds: string[]): Promise<void> {
    await Promise.all(workspaceIds.map((id) => this.presence.keepInboxOpen(id)));
  }

  /**
   * Calls back with the ids of conversations, or null for any, at most five times a second.
   * @param agentId agent who is told, but not of its own acts
   * @returns a function that stops it
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
