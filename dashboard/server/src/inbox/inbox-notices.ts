import { Injectable } from '@nestjs/common';
import { type ChangedConversation, EventNotices, type InboxChange } from 'conversation-messaging-service';
import { CollectedNotices } from './collected-notices';

/** Name of a stream's event and its data: the ids of changed rows, or null if any row may have changed. */
type InboxNotice =
  | ['changed', { changes: ChangedConversation[] | null }]
  | ['read' | 'unread' | 'handed-over', { conversationIds: string[] | null }]
  | ['contacts', { contactIds: string[] | null }];

/** Notifies the stream of an agent's open inbox about changed conversations, contacts and read marks. */
@Injectable()
export class InboxNotices {
  constructor(private readonly notices: EventNotices) {}

  /**
   * Calls `send` for changes in a workspace, at most five times a second for each kind of notice. `changed`
   * with null means that anything may have changed.
   * @param agentId agent whose changed read marks are sent; if undefined, no read marks are sent
   * @returns a function that ends the calls, and a promise that settles once no later change can be missed
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
