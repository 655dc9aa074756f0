import { Reply } from '../../inbox/presence/presence-store';
import { VisitorPresence } from '../../inbox/presence/visitor-presence';
import { VisitorState } from './visitors.repository';

/** Visitor with streams at this process, who is online in their own conversation if they have one. */
export class PresentVisitor {
  private latest: VisitorState | null = null;
  private stopListening = () => {};

  /**
   * Makes a visitor without a conversation.
   * @param tell gets an agent's act, with the latest state that the visitor was told
   */
  constructor(
    private readonly presence: VisitorPresence,
    private readonly tell: (reply: Reply, state: VisitorState) => void,
  ) {}

  /** Notes the state that the visitor was told last. */
  follow(state: VisitorState): void {
    const before = this.latest?.conversationId;
    this.latest = state;
    const { tenantId, conversationId } = state;
    if (conversationId === null) return;
    const conversation = { tenantId, conversationId };
    void this.presence.stay(conversation, state);
    if (conversationId === before) return;
    this.stopListening();
    this.stopListening = this.presence.listenToReplies(conversation, (reply) =>
      this.tell(reply, this.latest!),
    );
  }

  /** Notes that the visitor's last stream has ended. */
  leave(): void {
    this.stopListening();
    const { latest } = this;
    if (latest?.conversationId)
      void this.presence.leave({ tenantId: latest.tenantId, conversationId: latest.conversationId }, latest);
  }
}
