import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { EventlessChanges } from '../outbox/eventless-changes';
import { ChannelCustomer, ConversationsRepository } from './conversations.repository';

/** Notes answers that customers got from outside of the service, such as from a provider's own inbox. */
@Injectable()
export class AnswersElsewhere {
  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly changes: EventlessChanges,
  ) {}

  /** Ends the wait of a customer, unless it has begun after the answer. */
  async note(tx: Transaction, customer: ChannelCustomer, answeredAt: Date): Promise<void> {
    const conversationId = await this.conversations.endWait(tx, customer, answeredAt);
    if (conversationId !== null) this.changes.note(tx, customer.tenantId, { conversationId });
  }
}
