import { ENTITLEMENTS, isEntitled, isTrialExpired } from 'conversation-messaging-service';
import type { Membership, OpenedSession } from 'conversation-messaging-service/logins';
import type { DashboardSession, WorkspaceSummary } from '../api';

export function toSessionResponse(
  { person, memberships, lockedMemberships, unreachableWorkspaceIds }: OpenedSession,
  { publicUrl }: { publicUrl: string },
): DashboardSession {
  return {
    person,
    workspaces: [
      ...memberships.map((membership) => toWorkspaceSummary(membership)),
      ...lockedMemberships.map((membership) => toWorkspaceSummary(membership, true)),
    ],
    unreachableWorkspaces: unreachableWorkspaceIds.length,
    apiUrl: `${publicUrl}/api/v1`,
    publicUrl,
  };
}

export function toWorkspaceSummary(
  { agentId, role, workspace, lockedAt }: Membership,
  isLocked = false,
): WorkspaceSummary {
  const { id, slug, name, planTier, trialEndsAt, isSuspended, secondFactorGraceDays } = workspace;
  return {
    id,
    slug,
    name,
    role,
    agentId,
    planTier,
    trialEndsAt,
    isTrialExpired: isTrialExpired(workspace, new Date()),
    isSuspended,
    // Contains the entitlements that the plan includes and those that an operator granted.
    entitlements: ENTITLEMENTS.filter((entitlement) => isEntitled(workspace, entitlement)),
    secondFactorGraceDays,
    lockedAt,
    isLocked,
  };
}
