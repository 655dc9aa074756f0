import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { AgentKey, ConversationKey } from '../database/tables/table-declaration';

type HandoverWork = (tx: Transaction, agent: AgentKey, conversationId: string) => Promise<void>;
type ClosingWork = (tx: Transaction, conversation: ConversationKey) => void;
type ReplyWork = (tx: Transaction, key: AgentKey & ConversationKey, body: string) => void;

/** Holds the work that other features do in the transaction of a change. They add it when they start. */
@Injectable()
export class ConversationWorks {
  /** Work when a conversation is handed over: another one assigns it to an agent, or its snooze ends. */
  readonly handovers: HandoverWork[] = [];
  /** Work when a conversation is closed. */
  readonly closings: ClosingWork[] = [];
  /** Work when an agent replies with a text. */
  readonly replies: ReplyWork[] = [];
}
