import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Actor, idOf } from '../../access/principal';
import { SealedSecret } from '../../secrets/secret-box';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeactivationReason, ENDPOINT_COLUMNS, WebhookEndpoint } from './webhook-endpoint';

export type EndpointSettings = Pick<
  WebhookEndpoint,
  'url' | 'events' | 'context' | 'rateLimit' | 'name' | 'description' | 'recoversSince'
>;

export type EndpointKey = Pick<WebhookEndpoint, 'tenantId' | 'id'>;

export type NewEndpoint = EndpointKey & EndpointSettings & { sealed: SealedSecret; maker: Actor };

const SELECT_PRESENT = `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE tenant_id = $1 AND deleted_at IS NULL`;
const NO_PREVIOUS_SECRET = `previous_secret_key_id = NULL, previous_secret_ciphertext = NULL,
  previous_secret_ends_at = NULL, previous_secret_signs_service = NULL`;
/** Ends the automatic recovery under way at once. Later ones leave out the events so far. */
const LEFT_ALONE = `recovering_id = NULL,
  recovers_since = CASE WHEN recovers_since IS NOT NULL THEN $3::timestamptz END`;
const NEW_SECRET = `secret_key_id = $4, secret_ciphertext = $5, secret_rolled_by_type = $6, secret_rolled_by_id = $7`;

/** Stores the endpoints of workspaces. Methods that change an endpoint return its new state. */
@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly database: Database) {}

  async list(tenantId: string): Promise<WebhookEndpoint[]> {
    return isId(tenantId) ? this.database.query(`${SELECT_PRESENT} ORDER BY id DESC`, [tenantId]) : [];
  }

  async get(tenantId: string, id: string): Promise<WebhookEndpoint> {
    const [endpoint] = isId(id)
      ? await this.database.query<WebhookEndpoint>(`${SELECT_PRESENT} AND id = $2`, [tenantId, id])
      : [];
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    return endpoint;
  }

  /** Returns the URL of an endpoint, even of a deleted one; null without a row. */
  async findUrl(tenantId: string, id: string): Promise<string | null> {
    const [row] = await this.database.query<{ url: string }>(
      'SELECT url FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2',
      [tenantId, id],
    );
    return row?.url ?? null;
  }

  /** Locks an endpoint. It waits for claims under way, which hold a shared lock on the endpoint. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<WebhookEndpoint | null> {
    if (!isId(id)) return null;
    tx.outlastClaimsPipelined();
    const [endpoint] = await tx.query<WebhookEndpoint>(`${SELECT_PRESENT} AND id = $2 FOR UPDATE`, [
      tenantId,
      id,
    ]);
    return endpoint ?? null;
  }

  /** Locks an endpoint for a change by which claims still see it as unchanged, so that they do not wait. */
  async lockQuietly(tx: Transaction, tenantId: string, id: string): Promise<WebhookEndpoint | null> {
    const [endpoint] = await tx.query<WebhookEndpoint>(`${SELECT_PRESENT} AND id = $2 FOR NO KEY UPDATE`, [
      tenantId,
      id,
    ]);
    return endpoint ?? null;
  }

  /** Sets the automatic recovery whose deliveries may be sent from now on; null for none. */
  async setRecovering(
    tx: Transaction,
    { tenantId, id }: EndpointKey,
    recoveryId: string | null,
  ): Promise<void> {
    await tx.query('UPDATE webhook_endpoints SET recovering_id = $3 WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      id,
      recoveryId,
    ]);
  }

  /** Ends an automatic recovery: none of its deliveries is sent from now on. */
  async endRecovering(tx: Transaction, tenantId: string, id: string, recoveryId: string): Promise<void> {
    await tx.query(
      `UPDATE webhook_endpoints SET recovering_id = NULL
       WHERE tenant_id = $1 AND id = $2 AND recovering_id = $3`,
      [tenantId, id, recoveryId],
    );
  }

  async findRecoveringId(tx: Transaction, tenantId: string, id: string): Promise<string | null> {
    const [row] = await tx.query<{ recoveringId: string | null }>(
      'SELECT recovering_id AS "recoveringId" FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2',
      [tenantId, id],
    );
    return row?.recoveringId ?? null;
  }

  lockOfKey(tx: Transaction, tenantId: string, keyId: string): Promise<WebhookEndpoint[]> {
    tx.outlastClaimsPipelined();
    return tx.query(
      `${SELECT_PRESENT} AND $2 IN (made_by_id, url_set_by_id, secret_rolled_by_id) ORDER BY id FOR UPDATE`,
      [tenantId, keyId],
    );
  }

  /** Replaces a key by another as maker of an endpoint, or as the actor who set its URL or secret last. */
  async handOver(
    tx: Transaction,
    { tenantId, id }: EndpointKey,
    keyId: string,
    replacedBy: string,
  ): Promise<void> {
    await tx.query(
      `UPDATE webhook_endpoints
       SET made_by_id = CASE WHEN made_by_id = $3 THEN $4 ELSE made_by_id END,
           url_set_by_id = CASE WHEN url_set_by_id = $3 THEN $4 ELSE url_set_by_id END,
           secret_rolled_by_id = CASE WHEN secret_rolled_by_id = $3 THEN $4 ELSE secret_rolled_by_id END
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, keyId, replacedBy],
    );
  }

  /** Counts the endpoints: `present` without the deleted ones, `kept` with them. */
  async count(tx: Transaction, tenantId: string): Promise<{ present: number; kept: number }> {
    const [row] = await tx.query<{ present: number; kept: number }>(
      `SELECT count(*) FILTER (WHERE deleted_at IS NULL)::integer AS present, count(*)::integer AS kept
       FROM webhook_endpoints WHERE tenant_id = $1`,
      [tenantId],
    );
    return row!;
  }

  async insert(tx: Transaction, endpoint: NewEndpoint): Promise<WebhookEndpoint> {
    const { tenantId, id, url, events, context, rateLimit, name, description, sealed, maker } = endpoint;
    const { recoversSince } = endpoint;
    const [inserted] = await tx.query<WebhookEndpoint>(
      `INSERT INTO webhook_endpoints (tenant_id, id, url, events, context_parts, rate_limit, name, description,
         secret_key_id, secret_ciphertext, made_by_type, made_by_id, url_set_by_type, url_set_by_id, active,
         activation, activated_at, version, created_at, updated_at, recovers_since)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $11, $12, true, 1, clock_timestamp(), 1, $13, $13, $14)
       RETURNING ${ENDPOINT_COLUMNS}`,
      [
        ...[tenantId, id, url, events, context, rateLimit, name, description],
        ...[sealed.keyId, sealed.ciphertext, maker.type, idOf(maker), new Date(), recoversSince],
      ],
    );
    return inserted!;
  }

  /** Activates an endpoint. It does not receive events that were queued before the activation. */
  async activate(tx: Transaction, key: EndpointKey): Promise<WebhookEndpoint> {
    const set = `active = true, activation = activation + 1, activated_at = $4, failing_since = NULL,
      deactivation_reason = NULL, deactivated_at = NULL`;
    return this.change(tx, key, set, [await tx.readClock()]);
  }

  /** Changes the settings of an endpoint. With a new URL, failures and successes are forgotten. */
  update(
    tx: Transaction,
    key: EndpointKey,
    { url, events, context, rateLimit, name, description, recoversSince }: EndpointSettings,
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    const set = `url = $4, events = $5, context_parts = $6, rate_limit = $7, name = $8, description = $9,
      version = version + 1, failing_since = CASE WHEN url = $4 THEN failing_since END,
      last_success_at = CASE WHEN url = $4 THEN last_success_at END,
      url_set_by_type = CASE WHEN url = $4 THEN url_set_by_type ELSE $10 END,
      url_set_by_id = CASE WHEN url = $4 THEN url_set_by_id ELSE $11 END,
      recovers_since = $12, recovering_id = NULL`;
    const values = [url, events, context, rateLimit, name, description, actor.type, idOf(actor)];
    return this.change(tx, key, set, [...values, recoversSince]);
  }

  /** Deactivates an endpoint. `reason` is null when an actor deactivates it. */
  deactivate(
    tx: Transaction,
    key: EndpointKey,
    { isDeleted, reason }: { isDeleted: boolean; reason: DeactivationReason | null },
  ): Promise<WebhookEndpoint> {
    const now = new Date();
    const set = `active = false, deactivation_reason = $4, deactivated_at = $5, deleted_at = $6, ${LEFT_ALONE}`;
    return this.change(tx, key, set, [reason, reason && now, isDeleted ? now : null]);
  }

  replaceSecret(
    tx: Transaction,
    key: EndpointKey,
    { keyId, ciphertext }: SealedSecret,
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    const values = [keyId, ciphertext, actor.type, idOf(actor)];
    return this.change(tx, key, `${NEW_SECRET}, ${NO_PREVIOUS_SECRET}, ${LEFT_ALONE}`, values);
  }

  /** Replaces the secret. The old one signs until the grace period ends, by the database's clock. */
  async rollSecret(
    tx: Transaction,
    key: EndpointKey,
    { keyId, ciphertext }: SealedSecret,
    { gracePeriodSeconds, signsService }: { gracePeriodSeconds: number; signsService: boolean },
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    const now = await tx.readClock();
    const set = `previous_secret_key_id = secret_key_id, previous_secret_ciphertext = secret_ciphertext,
      previous_secret_ends_at = $8::timestamptz + $9::float8 * interval '1 second',
      previous_secret_signs_service = $10, ${NEW_SECRET}, ${LEFT_ALONE}`;
    const values = [keyId, ciphertext, actor.type, idOf(actor), now, gracePeriodSeconds, signsService];
    return this.change(tx, key, set, values);
  }

  endPreviousSecret(tx: Transaction, key: EndpointKey): Promise<WebhookEndpoint> {
    return this.change(tx, key, `${NO_PREVIOUS_SECRET}, ${LEFT_ALONE}`, []);
  }

  /** Ends the automatic recovery of an endpoint at once. */
  leaveAlone(tx: Transaction, key: EndpointKey): Promise<WebhookEndpoint> {
    return this.change(tx, key, LEFT_ALONE, []);
  }

  /**
   * Inserts a cancellation, so that `PendingCanceller` cancels the deliveries that may not be sent to the
   * endpoint any more. A cancellation under way restarts, because attempts may have begun since its start.
   */
  async cancelUnowed(tx: Transaction, { tenantId, id, activation }: WebhookEndpoint): Promise<void> {
    await tx.query(
      `INSERT INTO pending_cancellations (tenant_id, endpoint_id, activation, created_at) VALUES ($1, $2, $3, now())
       ON CONFLICT (tenant_id, endpoint_id, activation) DO UPDATE SET created_at = excluded.created_at`,
      [tenantId, id, activation],
    );
  }

  private async change(
    tx: Transaction,
    { tenantId, id }: EndpointKey,
    set: string,
    values: unknown[],
  ): Promise<WebhookEndpoint> {
    const [changed] = await tx.query<WebhookEndpoint>(
      `UPDATE webhook_endpoints SET ${set}, updated_at = $3 WHERE tenant_id = $1 AND id = $2
       RETURNING ${ENDPOINT_COLUMNS}`,
      [tenantId, id, new Date(), ...values],
    );
    return changed!;
  }
}
