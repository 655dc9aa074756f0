import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Text of an agent in a conversation, for colleagues alone. */
@Entity('notes')
export class NoteEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  /** Id of the note, and of the audit entry of its creation. */
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'conversation_id' })
  conversationId: string;

  @Column('uuid', { name: 'author_agent_id' })
  authorAgentId: string;

  @Column('text')
  body: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
