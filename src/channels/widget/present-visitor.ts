import { Reply } from '../../inbox/presence/presence-store';
import { VisitorPresence } from '../../inbox/presence/visitor-presence';
import { VisitorState } from './visitors.repository';

/**
 * Presence of a visitor with open event streams in this process. Reports that the visitor is online in their
 * conversation, and passes on agents' typing.
 */
export class PresentVisitor {
  private latest: VisitorState | null = null;
  private stopListening = () => {};

  /**
   * Makes the presence of a visitor. The visitor is not reported as online before `follow` is called with a
   * conversation.
   *
   * @param tell receives an agent's typing, and the latest state that was sent to the visitor
   */
  constructor(
    private readonly presence: VisitorPresence,
    private readonly tell: (reply: Reply, state: VisitorState) => void,
  ) {}

  /** Stores the state that was sent to the visitor, and reports the visitor as online in its conversation. */
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

  /** Reports that the visitor's last stream in this process has ended. */
  leave(): void {
    this.stopListening();
    const { latest } = this;
    if (latest?.conversationId)
      void this.presence.leave({ tenantId: latest.tenantId, conversationId: latest.conversationId }, latest);
  }
}
