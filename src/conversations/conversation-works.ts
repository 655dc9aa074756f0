import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { AgentKey, ConversationKey } from '../database/tables/table-declaration';

type HandoverWork = (tx: Transaction, agent: AgentKey, conversationId: string) => Promise<void>;
type ClosingWork = (tx: Transaction, conversation: ConversationKey) => void;
type ReplyWork = (tx: Transaction, key: AgentKey & ConversationKey, body: string) => void;

/** Work that features register, to be done in the transaction of a conversation's change. */
@Injectable()
export class ConversationWorks {
  /** Work when another actor assigns a conversation to an agent, or when its snooze ends. */
  readonly handovers: HandoverWork[] = [];
  readonly closings: ClosingWork[] = [];
  readonly replies: ReplyWork[] = [];
}
