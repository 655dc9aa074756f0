import { type Actor } from '../../access/principal';
import { type ContextPart } from '../context/context-parts';

/**
 * Reason for which the service deactivated an endpoint: a delivery ended with 410, or all failed for days.
 */
export const DEACTIVATION_REASONS = ['gone', 'failing'] as const;
export type DeactivationReason = (typeof DEACTIVATION_REASONS)[number];

/** URL that a workspace has registered for its events. */
export interface WebhookEndpoint {
  tenantId: string;
  id: string;
  /** Name by which people know the endpoint; null without one. */
  name: string | null;
  description: string | null;
  url: string;
  /** Event types, or `*` for all, future ones included. */
  events: string[];
  /** Parts of the context that its deliveries have; null if it does not ask for a context. */
  context: ContextPart[] | null;
  /**
   * End of the secret before the last roll, by the database's clock. Once it is past, that secret signs
   * nothing.
   */
  previousSecretEndsAt: Date | null;
  /** Type of the actor who made the endpoint; null if it was made before this was noted. */
  madeByType: Actor['type'] | null;
  /** Agent or key that made the endpoint; null for all others. A key may be deleted by now. */
  madeById: string | null;
  /** Type of the actor who set the URL last, as `madeByType`. */
  urlSetByType: Actor['type'] | null;
  /** Agent or key that set the URL last, as `madeById`. */
  urlSetById: string | null;
  /** Type of the actor who rolled the secret last; null if it is the first secret, as far as is known. */
  secretRolledByType: Actor['type'] | null;
  /** Agent or key that rolled the secret last, as `madeById`. */
  secretRolledById: string | null;
  active: boolean;
  /** Number of the present activation. A pending delivery names the activation that is owed it. */
  activation: number;
  /**
   * Time of the latest activation, by the database's clock. The endpoint gets events that were appended
   * later.
   */
  activatedAt: Date;
  /** Number of the present settings. Each edit adds one. */
  version: number;
  /** Limit of deliveries a second, over all workers; null for none. */
  rateLimit: number | null;
  /** Time of the first failure since the last success; null without one. */
  failingSince: Date | null;
  /** Time of the last success, to the minute. */
  lastSuccessAt: Date | null;
  /** Reason for which the service deactivated the endpoint; null if it did not. */
  deactivationReason: DeactivationReason | null;
  /** Time at which the service deactivated the endpoint; null if it did not. */
  deactivatedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Time of the deletion. The row of a deleted endpoint is kept until its last delivery expires. */
  deletedAt: Date | null;
}

/** Columns of an endpoint, as a SELECT or RETURNING lists them. The encrypted secrets are not among them. */
export const ENDPOINT_COLUMNS = `tenant_id AS "tenantId", id, name, description, url, events, context_parts AS context,
  previous_secret_ends_at AS "previousSecretEndsAt", made_by_type AS "madeByType", made_by_id AS "madeById",
  url_set_by_type AS "urlSetByType", url_set_by_id AS "urlSetById", secret_rolled_by_type AS "secretRolledByType",
  secret_rolled_by_id AS "secretRolledById", active, activation, activated_at AS "activatedAt", version,
  rate_limit AS "rateLimit", failing_since AS "failingSince", last_success_at AS "lastSuccessAt",
  deactivation_reason AS "deactivationReason", deactivated_at AS "deactivatedAt", created_at AS "createdAt",
  updated_at AS "updatedAt", deleted_at AS "deletedAt"`;
