import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Actor } from '../common/principal';

/** An action in a workspace: who did it, from where, and what it changed. Kept for ever. */
@Entity('audit_entries')
export class AuditEntryEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  /** In the past tense: `api_key.revoked`. */
  @Column('text')
  action: string;

  /** The type of the changed thing: `api_key`. */
  @Column('text')
  entity: string;

  @Column('text', { name: 'entity_id' })
  entityId: string;

  @Column('text', { name: 'actor_type' })
  actorType: Actor['type'];

  /** The agent or the API key; null for the others. */
  @Column('uuid', { name: 'actor_id', nullable: true })
  actorId: string | null;

  /** The operator; null for the others. */
  @Column('text', { name: 'actor_name', nullable: true })
  actorName: string | null;

  /** Of the client; null without a request, like the two below. */
  @Column('text', { nullable: true })
  address: string | null;

  @Column('text', { name: 'user_agent', nullable: true })
  userAgent: string | null;

  @Column('text', { name: 'request_id', nullable: true })
  requestId: string | null;

  /** The values that changed, before; null when there was nothing before. */
  @Column('jsonb', { nullable: true })
  before: Record<string, unknown> | null;

  /** The same values afterwards; null when nothing is left. */
  @Column('jsonb', { nullable: true })
  after: Record<string, unknown> | null;

  /** What else tells about the action, such as a name. */
  @Column('jsonb')
  metadata: Record<string, unknown>;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
