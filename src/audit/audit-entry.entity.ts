import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Actor } from '../common/principal';

/** An action in a workspace, and its actor. Kept for ever. */
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

  @Column('uuid', { name: 'actor_id', nullable: true })
  actorId: string | null;

  @Column('jsonb')
  metadata: Record<string, unknown>;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
