import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Scope } from '../access/permissions';

/** Key to the REST API: its hash, and a few characters to recognize it by. */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  name: string;

  @Column('bytea', { unique: true, select: false })
  hash: Buffer;

  @Column('text', { name: 'first_chars' })
  firstChars: string;

  @Column('text', { name: 'last_chars' })
  lastChars: string;

  @Column('text', { array: true })
  scopes: Scope[];

  /** Networks (CIDR) from which the key may be used; null for all. */
  @Column('text', { name: 'allowed_networks', array: true, nullable: true })
  allowedNetworks: string[] | null;

  /** Agent who created the key; null for an operator or the system. */
  @Column('uuid', { name: 'created_by', nullable: true })
  createdBy: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** Time of the last use, updated at most once a minute. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;
}
