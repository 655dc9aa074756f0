import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { isId } from '../../common/ids';
import { Memo } from '../../common/memo';
import { Actor, idOf } from '../../access/principal';
import { SealedSecret, SecretBox, SecretUnreadable } from '../../secrets/secret-box';
import { Database } from '../../database/database';
import { workspaceOf, Batch } from '../../database/key-list';
import { Transaction } from '../../database/transaction';
import { SigningSecrets } from '../sending/signature';
import { DeactivationReason, WebhookEndpointEntity } from './webhook-endpoint.entity';

export type Subscriber = Pick<
  WebhookEndpointEntity,
  | 'id'
  | 'tenantId'
  | 'events'
  | 'context'
  | 'url'
  | 'activation'
  | 'activatedAt'
  | 'rateLimit'
  | 'failingSince'
  | 'lastSuccessAt'
> & {
  /** Secrets that sign the deliveries; the error when the key of one is not configured in this process. */
  secrets: SigningSecrets | SecretUnreadable;
  /** Whether its last attempts succeeded, within a day, so that it need not count as slow. */
  answersLately: boolean;
  /**
   * Whether the workspace can send: it is not suspended, and the transaction holds a lock that a suspension
   * waits for.
   */
  maySend: boolean;
  /**
   * Whether the endpoint may be sent to: `maySend`, and the transaction holds a lock of the endpoint's row
   * that a deactivation or deletion waits for.
   */
  isLocked: boolean;
  /**
   * Whether deliveries may start without a claim: the endpoint is locked, has no rate limit, and its secrets
   * are readable.
   */
  startsAtOnce: boolean;
};

/** Settings of an endpoint that an edit can change. */
export type EndpointSettings = Pick<
  WebhookEndpointEntity,
  'url' | 'events' | 'context' | 'rateLimit' | 'name' | 'description'
>;

/** Columns of who set an endpoint's URL last. */
type UrlSetter = Pick<WebhookEndpointEntity, 'urlSetByType' | 'urlSetById'>;

/**
 * Change of an endpoint's health.
 * @property url address of the attempt: the endpoint may have got another one since
 * @property at time at which the attempt began
 */
export interface HealthChange {
  tenantId: string;
  id: string;
  url: string;
  at: Date;
}

/** Locks the changed endpoints in the order of their keys, so that two processes can't deadlock. */
const changesIn = (batch: Batch) => `(
  SELECT w.tenant_id, w.id, c.at
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) AS c (tenant_id, id, url, at)
  JOIN webhook_endpoints w ON w.tenant_id = ${workspaceOf('c', '$1', batch)} AND w.id = c.id AND w.url = c.url
  ORDER BY w.tenant_id, w.id FOR NO KEY UPDATE OF w) AS c`;

/**
 * Columns of both secrets. The end of a previous secret is compared at each claim, so no process has to be
 * told of it.
 */
const SECRETS = `secret_key_id AS "keyId", secret_ciphertext AS ciphertext,
  previous_secret_key_id AS "previousKeyId", previous_secret_ciphertext AS "previousCiphertext",
  previous_secret_signs_service AS "previousSignsService", previous_secret_ends_at > now() AS "previousSigns"`;

const NO_PREVIOUS_SECRET = {
  previousSecretKeyId: null,
  previousSecretCiphertext: null,
  previousSecretEndsAt: null,
  previousSecretSignsService: null,
};

interface SecretColumns extends SealedSecret {
  previousKeyId: string | null;
  previousCiphertext: Buffer | null;
  previousSignsService: boolean | null;
  previousSigns: boolean | null;
}

/** Number of secrets that a process keeps decrypted. */
const MAX_OPENED = 1_000;

const DATABASE_TIME = () => 'clock_timestamp()';

@Injectable()
export class WebhookEndpointsRepository {
  /** Secrets that were decrypted lately: a worker needs those of busy endpoints many times a second. */
  private readonly opened = new Memo<string>(MAX_OPENED);

  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
  ) {}

  async list(tenantId: string): Promise<WebhookEndpointEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager.find(WebhookEndpointEntity, {
      where: { tenantId, deletedAt: IsNull() },
      order: { id: 'DESC' },
    });
  }

  async find(tenantId: string, id: string): Promise<WebhookEndpointEntity | null> {
    if (!isId(id)) return null;
    return this.database.manager.findOneBy(WebhookEndpointEntity, { tenantId, id, deletedAt: IsNull() });
  }

  /** Returns the URL of an endpoint, also of a deleted one that is still kept. */
  async findUrl(tenantId: string, id: string): Promise<string | null> {
    const [row] = await this.database.query<{ url: string }>(
      'SELECT url FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2',
      [tenantId, id],
    );
    return row?.url ?? null;
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<WebhookEndpointEntity | null> {
    if (!isId(id)) return null;
    // The lock waits for the claims of the moment, which share it.
    tx.outlastClaimsPipelined();
    return tx.manager.findOne(WebhookEndpointEntity, {
      where: { tenantId, id, deletedAt: IsNull() },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** Locks the endpoints that a key made, or whose URL it set last. */
  async lockOfKey(tx: Transaction, tenantId: string, keyId: string): Promise<WebhookEndpointEntity[]> {
    tx.outlastClaimsPipelined();
    return tx.manager
      .createQueryBuilder(WebhookEndpointEntity, 'endpoint')
      .where('endpoint.tenantId = :tenantId AND endpoint.deletedAt IS NULL', { tenantId })
      .andWhere(':keyId IN (endpoint.madeById, endpoint.urlSetById, endpoint.secretRolledById)', { keyId })
      .orderBy('endpoint.id')
      .setLock('pessimistic_write')
      .getMany();
  }

  /** Writes another key in the place of one that made an endpoint, or set its URL or secret last. */
  async handOver(
    tx: Transaction,
    { tenantId, id }: Pick<WebhookEndpointEntity, 'tenantId' | 'id'>,
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

  /** Counts the endpoints that are not deleted, and all that are kept. */
  async count(tx: Transaction, tenantId: string): Promise<{ present: number; kept: number }> {
    const [row] = await tx.query<{ present: number; kept: number }>(
      `SELECT count(*) FILTER (WHERE deleted_at IS NULL)::integer AS present, count(*)::integer AS kept
       FROM webhook_endpoints WHERE tenant_id = $1`,
      [tenantId],
    );
    return row!;
  }

  async insert(tx: Transaction, endpoint: WebhookEndpointEntity): Promise<void> {
    await tx.manager.insert(WebhookEndpointEntity, { ...endpoint, activatedAt: DATABASE_TIME });
  }

  async activate(tx: Transaction, tenantId: string, id: string): Promise<void> {
    const now = await tx.readClock();
    await tx.manager.update(
      WebhookEndpointEntity,
      { tenantId, id },
      {
        active: true,
        activation: () => 'activation + 1',
        activatedAt: () => `'${now}'`,
        failingSince: null,
        deactivationReason: null,
        deactivatedAt: null,
        updatedAt: new Date(),
      },
    );
  }

  /** Changes settings. A new address has neither failed nor succeeded yet. */
  async update(
    tx: Transaction,
    { tenantId, id, url, version }: WebhookEndpointEntity,
    settings: Partial<EndpointSettings>,
    urlSetter: UrlSetter,
  ): Promise<void> {
    const isMoved = settings.url !== undefined && settings.url !== url;
    await tx.manager.update(
      WebhookEndpointEntity,
      { tenantId, id },
      {
        ...settings,
        ...(isMoved && { failingSince: null, lastSuccessAt: null, ...urlSetter }),
        version: version + 1,
        updatedAt: new Date(),
      },
    );
  }

  /**
   * Deactivates an endpoint.
   * @param reason of the service; null when somebody else deactivates it
   */
  async deactivate(
    tx: Transaction,
    tenantId: string,
    id: string,
    { isDeleted, reason }: { isDeleted: boolean; reason: DeactivationReason | null },
  ): Promise<void> {
    const now = new Date();
    await tx.manager.update(
      WebhookEndpointEntity,
      { tenantId, id },
      {
        active: false,
        deactivationReason: reason,
        deactivatedAt: reason && now,
        updatedAt: now,
        deletedAt: isDeleted ? now : null,
      },
    );
  }

  reload(tx: Transaction, tenantId: string, id: string): Promise<WebhookEndpointEntity> {
    return tx.manager.findOneByOrFail(WebhookEndpointEntity, { tenantId, id });
  }

  /**
   * Reads the secrets that sign an endpoint's deliveries.
   * @throws SecretUnreadable when the key of one is not configured in this process
   */
  async readSecrets(tx: Transaction, tenantId: string, id: string): Promise<SigningSecrets> {
    const [row] = await tx.query<SecretColumns>(
      `SELECT ${SECRETS} FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return this.decrypt(id, row!);
  }

  /** Replaces the secret, and any previous one with it. */
  async replaceSecret(
    tx: Transaction,
    tenantId: string,
    id: string,
    secret: SealedSecret,
    actor: Actor,
  ): Promise<void> {
    const { keyId: secretKeyId, ciphertext: secretCiphertext } = secret;
    const roller = { secretRolledByType: actor.type, secretRolledById: idOf(actor) };
    const values = { secretKeyId, secretCiphertext, ...roller, ...NO_PREVIOUS_SECRET, updatedAt: new Date() };
    await tx.manager.update(WebhookEndpointEntity, { tenantId, id }, values);
  }

  /** Replaces the secret. The old one goes on signing for a while, by the database's clock. */
  async rollSecret(
    tx: Transaction,
    tenantId: string,
    id: string,
    { keyId, ciphertext }: SealedSecret,
    { gracePeriodSeconds, signsService }: { gracePeriodSeconds: number; signsService: boolean },
    actor: Actor,
  ): Promise<void> {
    const now = await tx.readClock();
    await tx.query(
      `UPDATE webhook_endpoints
       SET previous_secret_key_id = secret_key_id, previous_secret_ciphertext = secret_ciphertext,
           previous_secret_ends_at = $5::timestamptz + $8::float8 * interval '1 second', previous_secret_signs_service = $6,
           secret_key_id = $3, secret_ciphertext = $4, updated_at = $7,
           secret_rolled_by_type = $9, secret_rolled_by_id = $10
       WHERE tenant_id = $1 AND id = $2`,
      [
        ...[tenantId, id, keyId, ciphertext, now, signsService, new Date(), gracePeriodSeconds],
        ...[actor.type, idOf(actor)],
      ],
    );
  }

  async endPreviousSecret(tx: Transaction, tenantId: string, id: string): Promise<void> {
    const values = { ...NO_PREVIOUS_SECRET, updatedAt: new Date() };
    await tx.manager.update(WebhookEndpointEntity, { tenantId, id }, values);
  }

  /** Records successes, one for each endpoint. A failure that is older than the success ends. */
  async markSucceeded(changes: HealthChange[]): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints w SET failing_since = NULL, last_success_at = greatest(last_success_at, c.at)
       FROM ${changesIn(this.database)}
       WHERE w.tenant_id = ${workspaceOf('c', '$1', this.database)} AND w.id = c.id AND (failing_since IS NULL OR failing_since <= c.at)`,
      changeColumns(changes),
    );
  }

  /**
   * Records failures, one for each endpoint. The first failure since the last success is kept, and a later
   * success wins.
   */
  async markFailing(changes: HealthChange[]): Promise<void> {
    await this.database.query(
      `UPDATE webhook_endpoints w SET failing_since = c.at
       FROM ${changesIn(this.database)}
       WHERE w.tenant_id = ${workspaceOf('c', '$1', this.database)} AND w.id = c.id AND failing_since IS NULL
         AND (last_success_at IS NULL OR last_success_at < c.at)`,
      changeColumns(changes),
    );
  }

  /**
   * Reads the active endpoints of some workspaces. It locks all of them except those that another transaction
   * is changing.
   */
  lockWorkspaceSubscribers(tx: Transaction, tenantIds: string[]): Promise<Subscriber[]> {
    return this.lockMatching(tx, 'active', [tenantIds]);
  }

  /**
   * Reads those of the endpoints that are active, or all that are not deleted. It locks them except those
   * that another transaction is changing.
   */
  lockSubscribers(
    tx: Transaction,
    endpoints: { tenantId: string; id: string }[],
    { inactiveToo = false } = {},
  ): Promise<Subscriber[]> {
    return this.lockMatching(tx, `${inactiveToo ? 'deleted_at IS NULL' : 'active'} AND id = ANY ($2)`, [
      [...new Set(endpoints.map(({ tenantId }) => tenantId))],
      endpoints.map(({ id }) => id),
    ]);
  }

  /**
   * Reads and locks endpoints. It skips locks of endpoints that are being changed, and of workspaces
   * that are being suspended, so that no claim waits for them. An endpoint whose locked row is of a later
   * version than the one that is read counts as one that is being changed.
   */
  private async lockMatching(
    tx: Transaction,
    condition: string,
    parameters: unknown[],
  ): Promise<Subscriber[]> {
    const ofTenants = `tenant_id = ANY ($1) AND ${condition}`;
    const rows = await tx.prepared<
      Omit<Subscriber, 'secrets' | 'isLocked' | 'startsAtOnce'> & SecretColumns & { isHeld: boolean }
    >(
      `WITH sending AS (
         SELECT id FROM workspaces WHERE id = ANY ($1) AND suspended_at IS NULL FOR KEY SHARE SKIP LOCKED
       ), held AS (
         SELECT id, version FROM webhook_endpoints WHERE ${ofTenants} FOR KEY SHARE SKIP LOCKED
       )
       SELECT id, tenant_id AS "tenantId", events, context_parts AS context, url, activation, activated_at AS "activatedAt",
              rate_limit AS "rateLimit", failing_since AS "failingSince", last_success_at AS "lastSuccessAt",
              failing_since IS NULL AND last_success_at > now() - interval '1 day' AS "answersLately",
              ${SECRETS}, tenant_id IN (SELECT id FROM sending) AS "maySend",
              (id, version) IN (SELECT id, version FROM held) AS "isHeld"
       FROM webhook_endpoints WHERE ${ofTenants}`,
      parameters,
    );
    return rows.map(({ isHeld, ...row }) => {
      const isLocked = isHeld && row.maySend;
      const secrets = this.tryDecrypt(row.id, row);
      const startsAtOnce = isLocked && row.rateLimit === null && !(secrets instanceof SecretUnreadable);
      return { ...row, secrets, isLocked, startsAtOnce };
    });
  }

  private tryDecrypt(id: string, row: SecretColumns): SigningSecrets | SecretUnreadable {
    try {
      return this.decrypt(id, row);
    } catch (error) {
      if (error instanceof SecretUnreadable) return error;
      throw error;
    }
  }

  private open(sealed: SealedSecret, id: string): string {
    const name = `${id} ${sealed.keyId} ${sealed.ciphertext.toString('latin1')}`;
    return this.opened.get(name, () => this.secrets.decrypt(sealed, id));
  }

  private decrypt(id: string, row: SecretColumns): SigningSecrets {
    const { keyId, ciphertext, previousKeyId, previousCiphertext, previousSignsService, previousSigns } = row;
    const secret = this.open({ keyId, ciphertext }, id);
    if (!previousSigns) return { secret };
    const previous = { keyId: previousKeyId!, ciphertext: previousCiphertext! };
    return {
      secret,
      previousSecret: { secret: this.open(previous, id), signsService: previousSignsService! },
    };
  }
}

function changeColumns(changes: HealthChange[]): unknown[] {
  return [
    changes.map(({ tenantId }) => tenantId),
    changes.map(({ id }) => id),
    changes.map(({ url }) => url),
    changes.map(({ at }) => at),
  ];
}
