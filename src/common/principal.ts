import { Scope } from './scope';

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
}

/** The author of a change: an agent in the dashboard, an API key, or the service itself. */
export type Actor = { type: 'agent' | 'api_key'; id: string } | { type: 'system'; id: null };

export const SYSTEM: Actor = { type: 'system', id: null };

export function actorOf(principal: Principal): Actor {
  return { type: 'api_key', id: principal.apiKeyId };
}
