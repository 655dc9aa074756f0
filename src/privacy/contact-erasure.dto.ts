import { ContactErasure } from './contact-erasures.repository';

/** Erasure and its progress. */
export interface ContactErasureSummary {
  id: string;
  contactId: string;
  /**
   * State of the erasure. `settling`: everything is erased; copies that were written during the erasure, such
   * as a receiver's answer, are looked for once more.
   */
  status: 'running' | 'settling' | 'completed';
  /** Messages erased so far. */
  messages: number;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toErasureSummary(erasure: ContactErasure): ContactErasureSummary {
  const { id, contactId, messages, createdAt, finishedAt } = erasure;
  const status = erasure.status.toLowerCase() as ContactErasureSummary['status'];
  return { id, contactId, status, messages, createdAt, finishedAt };
}
