import { ContactErasure } from './contact-erasures.repository';

export interface ContactErasureSummary {
  id: string;
  contactId: string;
  /**
   * State of the erasure. `settling`: everything is erased; a last search for copies that were written
   * meanwhile, such as a receiver's answer, follows.
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
