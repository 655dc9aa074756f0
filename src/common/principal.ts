import { Scope } from './permissions';

/** The caller of a request: an API key and its workspace. */
export interface Principal {
  apiKeyId: string;
  scopes: Scope[];
  tenant: PrincipalTenant;
}

/** The values of a workspace that every request needs. They are read together with the key. */
export interface PrincipalTenant {
  id: string;
  name: string;
  slug: string;
  planTier: string;
  trialEndsAt: Date | null;
  rateLimit: number | null;
  isSuspended: boolean;
}

/** Where a change was made from. The audit log keeps it; what is too long is cut. */
export interface Origin {
  /** The address of the client. */
  address?: string;
  userAgent?: string;
  /** The `X-Request-Id` of the request, which is in the logs too. */
  requestId?: string;
}

/**
 * The author of a change: an agent in the dashboard, an API key, an operator of the CLI, or the service itself. The
 * `origin` is for the audit log: a dashboard's backend passes that of its own request.
 */
export type Actor = (
  | { type: 'agent' | 'api_key'; id: string }
  | { type: 'operator'; name: string }
  | { type: 'system'; id: null }
) & { origin?: Origin };

export const SYSTEM = { type: 'system', id: null } as const satisfies Actor;

/** An actor as one text, as in an `audit.event`: the id of an agent or key, `operator:<name>`, or `system`. */
export function actorIdOf(actor: Actor): string {
  if (actor.type === 'operator') return `operator:${actor.name}`;
  return actor.id ?? actor.type;
}
