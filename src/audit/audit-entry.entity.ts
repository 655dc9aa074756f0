import { type Actor } from '../access/principal';

/**
 * Entry of the audit log: an action in a workspace, its actor, and the values that it changed. An entry is
 * kept for ever.
 */
export interface AuditEntryEntity {
  tenantId: string;
  id: string;
  /** Verb in the past tense, after the thing: `api_key.revoked`. */
  action: string;
  /** Type of the changed thing, such as `api_key`. */
  entity: string;
  entityId: string;
  actorType: Actor['type'];
  /** Agent or API key that acted; null for the operator and the system. */
  actorId: string | null;
  /** Operator who acted; null for all other actors. */
  actorName: string | null;
  /** Address of the client. Address, user agent and request id are null for an action without a request. */
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  /** Changed values as they were before the action; null for a new thing. */
  before: Record<string, unknown> | null;
  /** Changed values as they are after the action; null for a deleted thing. */
  after: Record<string, unknown> | null;
  /** Further facts about the action, such as the name of a deleted thing. */
  metadata: Record<string, unknown>;
  createdAt: Date;
}
