import { type Actor } from '../access/principal';

/** Action in a workspace: who did it, from where, and what it changed. An entry is kept for ever. */
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
  /** Values that changed, as they were before; null when there was nothing before. */
  before: Record<string, unknown> | null;
  /** Values that changed, as they are afterwards; null when nothing is left. */
  after: Record<string, unknown> | null;
  /** Further facts about the action, such as the name of what was deleted. */
  metadata: Record<string, unknown>;
  createdAt: Date;
}
