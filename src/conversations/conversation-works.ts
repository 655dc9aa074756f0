import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { AgentKey, ConversationKey } from '../database/tables/table-declaration';

/** Work to be done when a conversation is handed over to an agent, in the transaction that does so. */
type HandoverWork = (tx: Transaction, agent: AgentKey, conversationId: string) => Promise<void>;

/** Work to be done when a conversation is closed, in the transaction that does so. */
type ClosingWork = (tx: Transaction, conversation: ConversationKey) => void;

/** Work to be done when an agent replies with a text, in the transaction that does so. */
type ReplyWork = (tx: Transaction, key: AgentKey & ConversationKey, body: string) => void;

/**
 * Does what other features register for changes of conversations. A conversation is handed over to its agent
 * when somebody else assigns it, and when its snooze ends.
 */
@Injectable()
export class ConversationWorks {
  private readonly handoverWorks: HandoverWork[] = [];
  private readonly closingWorks: ClosingWork[] = [];
  private readonly replyWorks: ReplyWork[] = [];

  registerForHandovers(work: HandoverWork): void {
    this.handoverWorks.push(work);
  }

  registerForClosings(work: ClosingWork): void {
    this.closingWorks.push(work);
  }

  registerForReplies(work: ReplyWork): void {
    this.replyWorks.push(work);
  }

  async handOver(tx: Transaction, agent: AgentKey, conversationId: string): Promise<void> {
    for (const work of this.handoverWorks) await work(tx, agent, conversationId);
  }

  close(tx: Transaction, conversation: ConversationKey): void {
    for (const work of this.closingWorks) work(tx, conversation);
  }

  reply(tx: Transaction, key: AgentKey & ConversationKey, body: string): void {
    for (const work of this.replyWorks) work(tx, key, body);
  }
}
