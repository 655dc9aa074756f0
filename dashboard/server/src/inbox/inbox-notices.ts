import { Injectable } from '@nestjs/common';
import { type ChangedConversation, EventNotices, type InboxChange } from 'conversation-messaging-service';
import { CollectedNotices } from './collected-notices';

/** Notice of an inbox's stream: its name, with the ids of changed things; null when any may have changed. */
type InboxNotice =
  | ['changed', { changes: ChangedConversation[] | null }]
  | ['read' | 'unread' | 'handed-over', { conversationIds: string[] | null }]
  | ['contacts', { contactIds: string[] | null }];

/** Tells an agent's open inbox which of its conversations, contacts and marks have changed. */
@Injectable()
export class InboxNotices {
  constructor(private readonly notices: EventNotices) {}

  /**
   * Calls back with notices, of each kind at most five times a second. `changed` with null stands for
   * everything.
   * @param agentId agent whose read marks are told; undefined for none
   * @returns a function that stops it, and a promise that settles once no further change is missed
   */
  listen(
    workspaceId: string,
    agentId: string | undefined,
    send: (...notice: InboxNotice) => void,
  ): { stop: () => void; listening: Promise<void> } {
    const collected = {
      changed: new CollectedNotices<ChangedConversation>((changes) => send('changed', { changes })),
      contacts: new CollectedNotices<string>((contactIds) => send('contacts', { contactIds })),
      read: new CollectedNotices<string>((conversationIds) => send('read', { conversationIds })),
      unread: new CollectedNotices<string>((conversationIds) => send('unread', { conversationIds })),
      handedOver: new CollectedNotices<string>((conversationIds) => send('handed-over', { conversationIds })),
    };
    const note = (change: InboxChange | null) => {
      if (change === null) return collected.changed.note(null);
      if ('conversationId' in change) return collected.changed.note(change);
      if ('contactId' in change) return collected.contacts.note(change.contactId);
      const { readMark } = change;
      if (readMark.agentId !== agentId) return;
      collected[readMark.isUnread ? 'unread' : 'read'].note(readMark.conversationId);
      if (readMark.isHandedOver) collected.handedOver.note(readMark.conversationId);
    };
    const { stop, listening } = this.notices.listen(workspaceId, note);
    return {
      stop: () => {
        stop();
        for (const notices of Object.values(collected)) notices.stop();
      },
      listening,
    };
  }
}
