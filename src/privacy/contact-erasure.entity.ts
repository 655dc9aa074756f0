import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * RUNNING: everything is being erased. SETTLING: it was; what was under way meanwhile is looked through once more, a few
 * minutes later.
 */
export type ContactErasureStatus = 'RUNNING' | 'SETTLING' | 'COMPLETED';

/** The progress of one erasure, so that any worker can continue it. */
@Entity('contact_erasures')
export class ContactErasureEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'contact_id' })
  contactId: string;

  @Column('text')
  status: ContactErasureStatus;

  /** Erased so far. */
  @Column('integer')
  messages: number;

  /** The conversation in work: those before it are done. */
  @Column('uuid', { name: 'cursor_conversation_id' })
  conversationId: string;

  /** Its last message that is done. */
  @Column('uuid', { name: 'cursor_message_id' })
  messageId: string;

  /** When the next step may begin. */
  @Column('timestamptz', { name: 'due_at' })
  dueAt: Date;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
