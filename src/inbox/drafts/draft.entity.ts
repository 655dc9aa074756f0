import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Reply that an agent has begun in a conversation, and not sent. */
@Entity('drafts')
export class DraftEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid', { name: 'agent_id' })
  agentId: string;

  @PrimaryColumn('uuid', { name: 'conversation_id' })
  conversationId: string;

  @Column('text')
  body: string;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
