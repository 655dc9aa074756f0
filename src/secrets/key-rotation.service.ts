import { Injectable } from '@nestjs/common';
import { requireOperator, requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { groupBy } from '../common/group-by';
import { LOWEST_ID } from '../common/ids';
import { Actor, SYSTEM } from '../common/principal';
import { SealedSecret, SecretBox } from './secret-box';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';

const BATCH = 100;

interface SecretKey {
  tenantId: string;
  id: string;
}

interface StoredSecret extends SealedSecret {
  id: string;
}

/** Encrypts stored secrets with a new key, so that the old one can be removed. */
@Injectable()
export class KeyRotationService {
  private readonly columns: { table: string; prefix: string }[] = [];
  private readonly others: ((count: number) => Promise<number>)[] = [];

  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
    private readonly audit: AuditService,
  ) {}

  /**
   * Registers a table with a secret in `<prefix>_key_id` and `<prefix>_ciphertext`, encrypted with the row's `id` as
   * its context. Both columns may be null.
   * @internal
   */
  register(table: string, prefix = 'secret'): void {
    this.columns.push({ table, prefix });
  }

  /**
   * Registers secrets that belong to no workspace.
   * @param reencryptStep encrypts up to `count` of them under the first key, and returns how many had another one
   * @internal
   */
  registerOther(reencryptStep: (count: number) => Promise<number>): void {
    this.others.push(reencryptStep);
  }

  /**
   * Encrypts every stored secret of all workspaces with the first of the configured keys. Can be stopped and run again at
   * any time. Each workspace gets an audit entry for every hundred of its secrets.
   * @returns how many secrets had another key
   * @throws SecretUnreadable when the key of a stored secret is not configured
   */
  async reencrypt(actor: Actor = SYSTEM): Promise<{ reencrypted: number }> {
    let reencrypted = 0;
    for (const { table, prefix } of this.columns) {
      let last: SecretKey | undefined = { tenantId: LOWEST_ID, id: LOWEST_ID };
      while (last) {
        const found = await this.find(table, prefix, last);
        last = found.at(-1);
        for (const [tenantId, keys] of groupBy(found, (key) => key.tenantId)) {
          const ids = keys.map(({ id }) => id);
          reencrypted += await this.database.transaction((tx) =>
            this.reencryptIn(tx, { tenantId, table, prefix, ids }, actor),
          );
        }
      }
    }
    if (this.others.length > 0) requireOperator(actor, 'secret.reencrypt');
    for (const reencryptStep of this.others) {
      for (let count = BATCH; count === BATCH;) reencrypted += count = await reencryptStep(BATCH);
    }
    return { reencrypted };
  }

  /** The next secrets under other keys. A plain read: it locks nothing. */
  private find(table: string, prefix: string, { tenantId, id }: SecretKey): Promise<SecretKey[]> {
    return this.database.query<SecretKey>(
      `SELECT tenant_id AS "tenantId", id FROM ${table}
       WHERE ${prefix}_key_id <> $1 AND (tenant_id, id) > ($2, $3) ORDER BY tenant_id, id LIMIT $4`,
      [this.secrets.currentKeyId, tenantId, id, BATCH],
    );
  }

  private async reencryptIn(
    tx: Transaction,
    { tenantId, table, prefix, ids }: { tenantId: string; table: string; prefix: string; ids: string[] },
    actor: Actor,
  ): Promise<number> {
    await requirePermission(tx, tenantId, actor, 'secret.reencrypt');
    const stored = await tx.query<StoredSecret>(
      `SELECT id, ${prefix}_key_id AS "keyId", ${prefix}_ciphertext AS ciphertext FROM ${table}
       WHERE tenant_id = $1 AND id = ANY ($2) AND ${prefix}_key_id <> $3 ORDER BY id FOR NO KEY UPDATE`,
      [tenantId, ids, this.secrets.currentKeyId],
    );
    if (stored.length === 0) return 0;
    for (const { id, ...sealed } of stored) {
      const { keyId, ciphertext } = this.secrets.encrypt(this.secrets.decrypt(sealed, id), id);
      await tx.query(
        `UPDATE ${table} SET ${prefix}_key_id = $3, ${prefix}_ciphertext = $4 WHERE tenant_id = $1 AND id = $2`,
        [tenantId, id, keyId, ciphertext],
      );
    }
    const subject = { tenantId, actor, entity: 'workspace', entityId: tenantId };
    const metadata = { of: table, count: stored.length };
    this.audit.appendPipelined(tx, { ...subject, action: 'workspace.secrets_reencrypted', metadata });
    return stored.length;
  }
}
