import { Entitlement } from '../access/permissions';

export const PLAN_TIERS = ['TRIAL', 'STARTER', 'PRO', 'ENTERPRISE'] as const;
export type PlanTier = (typeof PLAN_TIERS)[number];

export const TRIAL_DAYS = 14;
/** Days before the end of a trial at which an alert tells of it. */
export const TRIAL_WARNING_DAYS = 3;
export const DEFAULT_RATE_LIMIT = 240;

const INCLUDED: Record<PlanTier, readonly Entitlement[]> = {
  TRIAL: [],
  STARTER: [],
  PRO: [],
  ENTERPRISE: ['auditWebhookExport'],
};

export function trialEndFrom(createdAt: Date): Date {
  return new Date(createdAt.getTime() + TRIAL_DAYS * 24 * 60 * 60 * 1000);
}

/** Reports whether a workspace's trial has ended, after which the API refuses writes. */
export function isTrialExpired(
  workspace: { planTier: string; trialEndsAt: Date | null },
  now: Date,
): boolean {
  return workspace.planTier === 'TRIAL' && workspace.trialEndsAt !== null && workspace.trialEndsAt <= now;
}

/** Reports whether a workspace's trial ends within TRIAL_WARNING_DAYS, or has ended. */
export function isTrialEnding(
  workspace: { planTier: string; trialEndsAt: Date | null },
  now = new Date(),
): boolean {
  const warned = new Date(now.getTime() + TRIAL_WARNING_DAYS * 24 * 60 * 60 * 1000);
  return isTrialExpired(workspace, warned);
}

/** Reports whether a workspace has an entitlement, by its plan or by a grant of the operator. */
export function isEntitled(
  workspace: { planTier: PlanTier; entitlements: readonly string[] },
  entitlement: Entitlement,
): boolean {
  return INCLUDED[workspace.planTier].includes(entitlement) || workspace.entitlements.includes(entitlement);
}

/** Returns the workspace's limit of requests a minute for each path. */
export function rateLimitOf(workspace: { rateLimit: number | null }): number {
  return workspace.rateLimit ?? DEFAULT_RATE_LIMIT;
}
