import { Injectable } from '@nestjs/common';
import { PresenceService } from 'conversation-messaging-service';

/** Time in which notices are collected, so that a busy workspace costs its streams five events a second. */
const COLLECT_MS = 200;
/** Limit of the conversations that one notice names. The others are read with the page's next read. */
const MAX_NAMED = 100;

/** Tells open inboxes in which conversations somebody has come, gone or begun to write. */
@Injectable()
export class PresenceNotices {
  constructor(private readonly presence: PresenceService) {}

  /** Tells visitors, for a while, that agents of these workspaces have their inboxes open. */
  async keepOpen(workspaceIds: string[]): Promise<void> {
    await Promise.all(workspaceIds.map((id) => this.presence.keepInboxOpen(id)));
  }

  /**
   * Calls back with the ids of conversations, at most five times a second.
   * @returns a function that stops it
   */
  listen(workspaceId: string, callback: (conversationIds: string[]) => void): () => void {
    const collected = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    const tell = () => {
      timer = undefined;
      callback([...collected]);
      collected.clear();
    };
    const { stop } = this.presence.listen(workspaceId, (conversationId) => {
      if (collected.size < MAX_NAMED) collected.add(conversationId);
      timer ??= setTimeout(tell, COLLECT_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }
}
