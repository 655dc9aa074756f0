import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type AgentRole } from '../access/agent-role';

/** A person or bot that answers a workspace's customers. */
@Entity('agents')
export class AgentEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  name: string;

  /** Name that customers see; null if they see none. */
  @Column('text', { name: 'display_name', nullable: true })
  displayName: string | null;

  @Column('text')
  email: string;

  @Column('text')
  role: AgentRole;

  @Column('boolean', { name: 'is_bot' })
  isBot: boolean;

  @Column('boolean')
  active: boolean;

  /** Time at which name, display name and e-mail address were erased; null while they are there. */
  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
