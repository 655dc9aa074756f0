import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { AgentKey, ConversationKey } from '../database/tables/table-declaration';

type HandoverWork = (tx: Transaction, agent: AgentKey, conversationId: string) => Promise<void>;
type ClosingWork = (tx: Transaction, conversation: ConversationKey) => void;
type ReplyWork = (tx: Transaction, key: AgentKey & ConversationKey, body: string) => void;

/** Holds functions that other features register. Each runs in the transaction that changes a conversation. */
@Injectable()
export class ConversationWorks {
  /** Run when an actor other than the agent assigns a conversation to the agent, or when its snooze ends. */
  readonly handovers: HandoverWork[] = [];
  readonly closings: ClosingWork[] = [];
  readonly replies: ReplyWork[] = [];
}
