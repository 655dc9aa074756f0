import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Entitlement, type PlanTier } from './plan-policy';

/** A tenant. */
@Entity('workspaces')
export class WorkspaceEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  name: string;

  @Column('text', { unique: true })
  slug: string;

  @Column('text', { name: 'plan_tier' })
  planTier: PlanTier;

  @Column('timestamptz', { name: 'trial_ends_at', nullable: true })
  trialEndsAt: Date | null;

  /** Requests a minute per path, or null for the default. */
  @Column('integer', { name: 'rate_limit', nullable: true })
  rateLimit: number | null;

  /** In addition to the plan's own. */
  @Column('text', { array: true })
  entitlements: Entitlement[];

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
