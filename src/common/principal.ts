import { Scope } from './scope';

/** Who a request comes from: an API key, and the workspace it acts for. */
export interface Principal {
  apiKeyId: string;
  scopes: Scope[];
  tenant: PrincipalTenant;
}

/** What the guards and services need of the workspace on every request, read together with the key. */
export interface PrincipalTenant {
  id: string;
  name: string;
  slug: string;
  planTier: string;
  trialEndsAt: Date | null;
  rateLimit: number | null;
}

/** Who did something: an agent in the dashboard, an API key, or the service itself. */
export type Actor = { type: 'agent' | 'api_key'; id: string } | { type: 'system'; id: null };

export const SYSTEM: Actor = { type: 'system', id: null };

export function actorOf(principal: Principal): Actor {
  return { type: 'api_key', id: principal.apiKeyId };
}
