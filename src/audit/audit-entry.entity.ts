import { type Actor } from '../access/principal';

/**
 * Action in a workspace, its actor, and the values that it changed. An entry is never changed, and is deleted
 * only with its workspace.
 */
export interface AuditEntryEntity {
  tenantId: string;
  id: string;
  /** Changed thing and a verb in the past tense, such as `api_key.revoked`. */
  action: string;
  entity: string;
  entityId: string;
  actorType: Actor['type'];
  /** Agent or API key that acted; null for an operator and the system. */
  actorId: string | null;
  /** Operator who acted; null for any other actor. */
  actorName: string | null;
  /** IP address of the client; null, like user agent and request id, for an action without a request. */
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  /** Changed values before the action; null for a new thing. */
  before: Record<string, unknown> | null;
  /** Changed values after the action; null for a deleted thing. */
  after: Record<string, unknown> | null;
  /** Further facts about the action, such as the name of a deleted thing. */
  metadata: Record<string, unknown>;
  createdAt: Date;
}
