import { ContactErasureEntity } from './contact-erasure.entity';

/** An erasure and its progress. */
export interface ContactErasureSummary {
  id: string;
  contactId: string;
  /**
   * `settling`: everything is erased. What was under way meanwhile, such as an answer of a receiver, is looked through
   * once more.
   */
  status: 'running' | 'settling' | 'completed';
  /** Messages erased so far. */
  messages: number;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toErasureSummary(erasure: ContactErasureEntity): ContactErasureSummary {
  const { id, contactId, messages, createdAt, finishedAt } = erasure;
  const status = erasure.status.toLowerCase() as ContactErasureSummary['status'];
  return { id, contactId, status, messages, createdAt, finishedAt };
}
