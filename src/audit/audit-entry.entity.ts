import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Actor } from '../access/principal';

/** Action in a workspace: who did it, from where, and what it changed. An entry is kept for ever. */
@Entity('audit_entries')
export class AuditEntryEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  /** Verb in the past tense, after the thing: `api_key.revoked`. */
  @Column('text')
  action: string;

  /** Type of the changed thing, such as `api_key`. */
  @Column('text')
  entity: string;

  @Column('text', { name: 'entity_id' })
  entityId: string;

  @Column('text', { name: 'actor_type' })
  actorType: Actor['type'];

  /** Agent or API key that acted; null for the operator and the system. */
  @Column('uuid', { name: 'actor_id', nullable: true })
  actorId: string | null;

  /** Operator who acted; null for all other actors. */
  @Column('text', { name: 'actor_name', nullable: true })
  actorName: string | null;

  /** Address of the client. Address, user agent and request id are null for an action without a request. */
  @Column('text', { nullable: true })
  address: string | null;

  @Column('text', { name: 'user_agent', nullable: true })
  userAgent: string | null;

  @Column('text', { name: 'request_id', nullable: true })
  requestId: string | null;

  /** Values that changed, as they were before; null when there was nothing before. */
  @Column('jsonb', { nullable: true })
  before: Record<string, unknown> | null;

  /** Values that changed, as they are afterwards; null when nothing is left. */
  @Column('jsonb', { nullable: true })
  after: Record<string, unknown> | null;

  /** Further facts about the action, such as the name of what was deleted. */
  @Column('jsonb')
  metadata: Record<string, unknown>;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
