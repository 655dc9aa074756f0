import { type Actor } from '../../access/principal';
import { type ContextPart } from '../context/context-parts';

/** Reasons why the service deactivates an endpoint: it answered with 410, or failed for days. */
export const DEACTIVATION_REASONS = ['gone', 'failing'] as const;
export type DeactivationReason = (typeof DEACTIVATION_REASONS)[number];

export interface WebhookEndpoint {
  tenantId: string;
  id: string;
  name: string | null;
  description: string | null;
  url: string;
  /** Event types, or `*` for all, also those that are added in future. */
  events: string[];
  /** Parts of the context that deliveries contain; null if the endpoint wants no context. */
  context: ContextPart[] | null;
  /** Time by the database's clock until which the previous secret signs; null without a previous secret. */
  previousSecretEndsAt: Date | null;
  /** Type of the actor who made the endpoint; null for an endpoint that is older than this column. */
  madeByType: Actor['type'] | null;
  /** Agent or API key that made the endpoint; null for other actors. The key may be deleted. */
  madeById: string | null;
  urlSetByType: Actor['type'] | null;
  urlSetById: string | null;
  /** Type of the actor who rolled the secret last; null if no roll is known. */
  secretRolledByType: Actor['type'] | null;
  secretRolledById: string | null;
  active: boolean;
  /** Number of the latest activation. A pending delivery of an earlier activation is not sent. */
  activation: number;
  /** Time of the latest activation, by the database's clock, from which on events are delivered. */
  activatedAt: Date;
  /** Number of the present settings. Each edit adds 1. */
  version: number;
  /** Limit of deliveries a second, over all workers; null for none. */
  rateLimit: number | null;
  /** Time of the first failure since the last success; null if no attempt has failed since. */
  failingSince: Date | null;
  /** Time of the last success, to the minute; null before the first. */
  lastSuccessAt: Date | null;
  /** Time from which on missed events are recovered automatically; null if the owner has not chosen that. */
  recoversSince: Date | null;
  /**
   * The only automatic recovery whose deliveries may be sent now; an unused id while the endpoint is probed
   * later; null for none.
   */
  recoveringId: string | null;
  /** Reason why the service deactivated the endpoint; null if it did not. */
  deactivationReason: DeactivationReason | null;
  deactivatedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Time of the deletion; null for an existing endpoint. The row is kept until its last delivery expires. */
  deletedAt: Date | null;
}

/** Columns of an endpoint for SELECT or RETURNING, without the encrypted secrets. */
export const ENDPOINT_COLUMNS = `tenant_id AS "tenantId", id, name, description, url, events, context_parts AS context,
  previous_secret_ends_at AS "previousSecretEndsAt", made_by_type AS "madeByType", made_by_id AS "madeById",
  url_set_by_type AS "urlSetByType", url_set_by_id AS "urlSetById", secret_rolled_by_type AS "secretRolledByType",
  secret_rolled_by_id AS "secretRolledById", active, activation, activated_at AS "activatedAt", version,
  rate_limit AS "rateLimit", failing_since AS "failingSince", last_success_at AS "lastSuccessAt",
  recovers_since AS "recoversSince", recovering_id AS "recoveringId",
  deactivation_reason AS "deactivationReason", deactivated_at AS "deactivatedAt", created_at AS "createdAt",
  updated_at AS "updatedAt", deleted_at AS "deletedAt"`;
