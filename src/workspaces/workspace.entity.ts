import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Entitlement } from '../common/entitlement';
import { type PlanTier } from './plan-policy';

/** A tenant of the service: the owner of all other rows. */
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

  /** Days after which messages are erased; null keeps them for ever. */
  @Column('integer', { name: 'message_retention_days', nullable: true })
  messageRetentionDays: number | null;

  /** Entitlements in addition to those of the plan. */
  @Column('text', { array: true })
  entitlements: Entitlement[];

  /** Time of the suspension; while it is set, the workspace's keys are refused and nothing is sent. */
  @Column('timestamptz', { name: 'suspended_at', nullable: true })
  suspendedAt: Date | null;

  /** Time at which the last suspension ended. */
  @Column('timestamptz', { name: 'resumed_at', nullable: true })
  resumedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
