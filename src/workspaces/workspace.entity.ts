import { Entitlement } from '../access/permissions';
import { PlanTier } from './plan-policy';

/** A tenant of the service, which owns the rows of all other tables. */
export interface WorkspaceEntity {
  id: string;
  name: string;
  slug: string;
  planTier: PlanTier;
  trialEndsAt: Date | null;
  /** Requests a minute per path; null for the default. */
  rateLimit: number | null;
  /** Days after which messages are erased; null keeps them for ever. */
  messageRetentionDays: number | null;
  /** Entitlements in addition to those that the plan includes. */
  entitlements: Entitlement[];
  /** Time of the suspension. While it is set, the workspace's keys are refused and nothing is sent. */
  suspendedAt: Date | null;
  /** Time at which the last suspension ended. */
  resumedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
