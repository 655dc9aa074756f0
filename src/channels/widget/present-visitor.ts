import { Reply } from '../../inbox/presence/presence-store';
import { VisitorPresence } from '../../inbox/presence/visitor-presence';
import { VisitorState } from './visitors.repository';

/** Reports a visitor with streams in this process as online, and passes agents' typing on to the visitor. */
export class PresentVisitor {
  private latest: VisitorState | null = null;
  private stopListening = () => {};

  /**
   * Starts with no conversation.
   * @param tell called when an agent types, with the latest state sent to the visitor
   */
  constructor(
    private readonly presence: VisitorPresence,
    private readonly tell: (reply: Reply, state: VisitorState) => void,
  ) {}

  /** Stores the state sent to the visitor, and reports the visitor as online in its conversation. */
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

  leave(): void {
    this.stopListening();
    const { latest } = this;
    if (latest?.conversationId)
      void this.presence.leave({ tenantId: latest.tenantId, conversationId: latest.conversationId }, latest);
  }
}
