import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * State of an erasure. RUNNING: everything is being erased. SETTLING: everything is erased; a few minutes
 * later, copies that were written during the erasure are looked for once more.
 */
export type ContactErasureStatus = 'RUNNING' | 'SETTLING' | 'COMPLETED';

/** Progress of one erasure, so that any worker can continue it. */
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

  /** Number of messages erased so far. */
  @Column('integer')
  messages: number;

  /** Id of the conversation whose messages are being erased. All conversations before it are done. */
  @Column('uuid', { name: 'cursor_conversation_id' })
  conversationId: string;

  /** Id of the last message of `conversationId` that is done. */
  @Column('uuid', { name: 'cursor_message_id' })
  messageId: string;

  /** Time from which the next step may begin. */
  @Column('timestamptz', { name: 'due_at' })
  dueAt: Date;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
