import { Entitlement } from '../access/permissions';
import { PlanTier } from './plan-policy';

export interface WorkspaceEntity {
  id: string;
  name: string;
  slug: string;
  planTier: PlanTier;
  trialEndsAt: Date | null;
  /** Requests a minute per path; null for the default. */
  rateLimit: number | null;
  /** Days after which messages are erased; null for never. */
  messageRetentionDays: number | null;
  /** Entitlements in addition to those that the plan includes. */
  entitlements: Entitlement[];
  /** Start of the present suspension; null if the workspace is not suspended. */
  suspendedAt: Date | null;
  /** End of the last suspension; null if there was none. */
  resumedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
