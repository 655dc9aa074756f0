import { ContactErasure } from './contact-erasures.repository';

export interface ContactErasureSummary {
  id: string;
  contactId: string;
  /**
   * State of the erasure. `settling`: everything is erased, and a last search follows, because work in
   * progress may have written copies meanwhile, such as a webhook receiver's answer.
   */
  status: 'running' | 'settling' | 'completed';
  messages: number;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toErasureSummary(erasure: ContactErasure): ContactErasureSummary {
  const { id, contactId, messages, createdAt, finishedAt } = erasure;
  const status = erasure.status.toLowerCase() as ContactErasureSummary['status'];
  return { id, contactId, status, messages, createdAt, finishedAt };
}
