import { Principal } from '../common/principal';
import { Scope } from '../common/scope';

export class TenantResponse {
  id: string;
  name: string;
  slug: string;
  planTier: string;
}

/** Who an API key is, and what it may do. */
export class MeResponse {
  apiKeyId: string;
  scopes: Scope[];
  tenant: TenantResponse;
}

export function toMe({ apiKeyId, scopes, tenant: { id, name, slug, planTier } }: Principal): MeResponse {
  return { apiKeyId, scopes, tenant: { id, name, slug, planTier } };
}
