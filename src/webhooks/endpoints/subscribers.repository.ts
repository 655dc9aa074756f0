import { Injectable } from '@nestjs/common';
import { Memo } from '../../common/memo';
import { Transaction } from '../../database/transaction';
import { SealedSecret, SecretBox, SecretUnreadable } from '../../secrets/secret-box';
import { SigningSecrets } from '../sending/signature';
import { WebhookEndpoint } from './webhook-endpoint';
import { EndpointKey } from './webhook-endpoints.repository';

export type Subscriber = Pick<
  WebhookEndpoint,
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
  | 'recoversSince'
  | 'recoveringId'
> & {
  /** Secrets that sign the deliveries; the error if this process lacks the key that decrypts one of them. */
  secrets: SigningSecrets | SecretUnreadable;
  /** Whether it is not failing and has succeeded within a day, so that workers do not treat it as slow. */
  answersLately: boolean;
  /** Whether the workspace is not suspended, and this transaction's lock makes a suspension wait. */
  maySend: boolean;
  /** Whether `maySend` is true, and this transaction's lock makes a deactivation or deletion wait. */
  isLocked: boolean;
  /** Whether deliveries may start without a claim: `isLocked`, no rate limit, and readable secrets. */
  startsAtOnce: boolean;
};

/**
 * Columns of the present and the previous secret. Each claim compares the previous secret's end with the
 * database's clock, so no process has to be told of the end.
 */
const SECRETS = `secret_key_id AS "keyId", secret_ciphertext AS ciphertext,
  previous_secret_key_id AS "previousKeyId", previous_secret_ciphertext AS "previousCiphertext",
  previous_secret_signs_service AS "previousSignsService", previous_secret_ends_at > now() AS "previousSigns"`;

interface SecretColumns extends SealedSecret {
  previousKeyId: string | null;
  previousCiphertext: Buffer | null;
  previousSignsService: boolean | null;
  previousSigns: boolean | null;
}

const MAX_OPENED = 1_000;

const lockMatching = (condition: string) => {
  const ofTenants = `tenant_id = ANY ($1) AND ${condition}`;
  return `
    WITH sending AS (
      SELECT id FROM workspaces WHERE id = ANY ($1) AND suspended_at IS NULL FOR KEY SHARE SKIP LOCKED
    ), held AS (
      SELECT id, version FROM webhook_endpoints WHERE ${ofTenants} FOR KEY SHARE SKIP LOCKED
    )
    SELECT id, tenant_id AS "tenantId", events, context_parts AS context, url, activation, activated_at AS "activatedAt",
           rate_limit AS "rateLimit", failing_since AS "failingSince", last_success_at AS "lastSuccessAt",
           recovers_since AS "recoversSince", recovering_id AS "recoveringId",
           failing_since IS NULL AND last_success_at > now() - interval '1 day' AS "answersLately",
           ${SECRETS}, tenant_id IN (SELECT id FROM sending) AS "maySend",
           (id, version) IN (SELECT id, version FROM held) AS "isHeld"
    FROM webhook_endpoints WHERE ${ofTenants}`;
};
const LOCK = {
  activeOfWorkspaces: lockMatching('active'),
  listedActive: lockMatching('active AND id = ANY ($2)'),
  listed: lockMatching('deleted_at IS NULL AND id = ANY ($2)'),
};

/** Reads and locks endpoints, together with the decrypted secrets that sign their deliveries. */
@Injectable()
export class SubscribersRepository {
  /** Decrypted secrets, kept because a worker needs the same secrets many times a second. */
  private readonly opened = new Memo<string>(MAX_OPENED);

  constructor(private readonly secrets: SecretBox) {}

  /**
   * Reads the secrets that sign an endpoint's deliveries.
   * @throws SecretUnreadable when this process lacks the key that decrypts one of them
   */
  async readSecrets(tx: Transaction, tenantId: string, id: string): Promise<SigningSecrets> {
    const [row] = await tx.query<SecretColumns>(
      `SELECT ${SECRETS} FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return this.decrypt(id, row!);
  }

  /** Reads the workspaces' active endpoints, and locks those that no other transaction is changing. */
  lockWorkspaceSubscribers(tx: Transaction, tenantIds: string[]): Promise<Subscriber[]> {
    return this.lockMatching(tx, 'activeOfWorkspaces', [tenantIds]);
  }

  /** Reads active endpoints by their keys, and locks those that no other transaction is changing. */
  lockSubscribers(
    tx: Transaction,
    endpoints: EndpointKey[],
    { inactiveToo = false } = {},
  ): Promise<Subscriber[]> {
    return this.lockMatching(tx, inactiveToo ? 'listed' : 'listedActive', [
      [...new Set(endpoints.map(({ tenantId }) => tenantId))],
      endpoints.map(({ id }) => id),
    ]);
  }

  /**
   * Reads and locks endpoints. It does not lock an endpoint that is being changed or whose workspace is being
   * suspended, so that no claim waits. An endpoint counts as being changed if the locked row has a later
   * version than the row that was read.
   */
  private async lockMatching(
    tx: Transaction,
    which: keyof typeof LOCK,
    parameters: unknown[],
  ): Promise<Subscriber[]> {
    const rows = await tx.prepared<
      Omit<Subscriber, 'secrets' | 'isLocked' | 'startsAtOnce'> & SecretColumns & { isHeld: boolean }
    >(LOCK[which], parameters);
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
