import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { AgentKey, ConversationKey } from '../database/tables/table-declaration';

type HandoverWork = (tx: Transaction, agent: AgentKey, conversationId: string) => Promise<void>;
type ClosingWork = (tx: Transaction, conversation: ConversationKey) => void;
type ReplyWork = (tx: Transaction, key: AgentKey & ConversationKey, body: string) => void;

/**
 * Stores the work that other features do in the transaction of a conversation's change. Each feature adds its
 * work when the process starts.
 */
@Injectable()
export class ConversationWorks {
  /**
   * Work when an actor assigns a conversation to another agent, or when the snooze of an assigned
   * conversation ends.
   */
  readonly handovers: HandoverWork[] = [];
  readonly closings: ClosingWork[] = [];
  readonly replies: ReplyWork[] = [];
}
