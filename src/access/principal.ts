import { Scope } from './permissions';

/** The caller of a request: an API key and its workspace. */
export interface Principal {
  apiKeyId: string;
  scopes: Scope[];
  tenant: PrincipalTenant;
}

/** Values of a workspace that every request needs. They are read together with the API key. */
export interface PrincipalTenant {
  id: string;
  name: string;
  slug: string;
  planTier: string;
  trialEndsAt: Date | null;
  rateLimit: number | null;
  isSuspended: boolean;
}

/** Data of the request that made a change, for the audit log. Values that are too long are cut. */
export interface Origin {
  /** IP address of the client. */
  address?: string;
  userAgent?: string;
  /** Value of the request's `X-Request-Id` header, by which the request is found in the logs. */
  requestId?: string;
}

/**
 * API key as the author of a change. The route has checked the scopes that every call needs. A service that
 * needs a further scope for some calls checks `scopes`. If `scopes` is missing, the key has none.
 */
export interface KeyActor {
  type: 'api_key';
  id: string;
  scopes?: readonly Scope[];
}

/**
 * Author of a change: an agent in the dashboard, an API key, an operator of the CLI, or the service itself.
 * The audit log stores `origin`. A dashboard's backend passes the origin of the request that it handles.
 */
export type Actor = (
  | { type: 'agent'; id: string }
  | KeyActor
  | { type: 'operator'; name: string }
  | { type: 'system'; id: null }
) & { origin?: Origin };

export const SYSTEM = { type: 'system', id: null } as const satisfies Actor;

/** Reports whether an actor has one of the scopes. Actors other than API keys have all scopes. */
export function hasScope(actor: Actor, scopes: readonly Scope[]): boolean {
  return actor.type !== 'api_key' || scopes.some((scope) => actor.scopes?.includes(scope));
}

/** Returns an actor as one text: the id of an agent or key, `operator:<name>`, or `system`. */
export function actorIdOf(actor: Actor): string {
  if (actor.type === 'operator') return `operator:${actor.name}`;
  return actor.id ?? actor.type;
}

/** Returns the id of an actor who is an agent or a key; null for an operator and the system. */
export function idOf(actor: Actor): string | null {
  return actor.type === 'operator' ? null : actor.id;
}

/** Returns the id of an actor who is an agent; null for every other actor. */
export function agentOf(actor: Actor): string | null {
  return actor.type === 'agent' ? actor.id : null;
}
