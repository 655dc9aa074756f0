import { Entitlement } from '../access/permissions';

/** Rules of a workspace's plan, as functions that read neither clock nor database. */

export const PLAN_TIERS = ['TRIAL', 'STARTER', 'PRO', 'ENTERPRISE'] as const;
export type PlanTier = (typeof PLAN_TIERS)[number];

export const TRIAL_DAYS = 14;
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

/** Reports whether a workspace's trial has ended, which makes the API read-only. */
export function isTrialExpired(
  workspace: { planTier: string; trialEndsAt: Date | null },
  now: Date,
): boolean {
  return workspace.planTier === 'TRIAL' && workspace.trialEndsAt !== null && workspace.trialEndsAt <= now;
}

/** Reports whether the plan includes the entitlement, or the workspace has it in addition. */
export function isEntitled(
  workspace: { planTier: PlanTier; entitlements: readonly string[] },
  entitlement: Entitlement,
): boolean {
  return INCLUDED[workspace.planTier].includes(entitlement) || workspace.entitlements.includes(entitlement);
}

/** Returns the workspace's limit of requests a minute, for each path. */
export function rateLimitOf(workspace: { rateLimit: number | null }): number {
  return workspace.rateLimit ?? DEFAULT_RATE_LIMIT;
}
