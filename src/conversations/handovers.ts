import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { AgentKey } from '../stored-data/table-declaration';

/** Work to be done when a conversation is handed over to an agent, in the transaction that does so. */
type HandoverWork = (tx: Transaction, agent: AgentKey, conversationId: string) => Promise<void>;

/**
 * Does what other features register for handovers. A conversation is handed over to its agent when somebody
 * else assigns it, and when its snooze ends.
 */
@Injectable()
export class Handovers {
  private readonly works: HandoverWork[] = [];

  register(work: HandoverWork): void {
    this.works.push(work);
  }

  async handOver(tx: Transaction, agent: AgentKey, conversationId: string): Promise<void> {
    for (const work of this.works) await work(tx, agent, conversationId);
  }
}
