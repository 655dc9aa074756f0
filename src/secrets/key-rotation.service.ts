import { Injectable } from '@nestjs/common';
import { requireOperator, requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { groupBy } from '../common/group-by';
import { LOWEST_ID } from '../common/ids';
import { Actor, SYSTEM } from '../access/principal';
import { SecretBox } from './secret-box';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { TableRegistry } from '../database/tables/table-registry';
import { SecretColumn, SecretKey, TableRowsRepository } from '../database/tables/table-rows.repository';

const BATCH = 100;

/** Encrypts stored secrets with a new key, so that the old key can be removed from the configuration. */
@Injectable()
export class KeyRotationService {
  private readonly others: ((count: number) => Promise<number>)[] = [];

  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
    private readonly audit: AuditService,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
  ) {}

  /**
   * Registers secrets that belong to no workspace.
   * @param reencryptStep finds up to `count` secrets that another key has encrypted, encrypts them with the
   *   first configured key, and returns their number
   * @internal
   */
  registerOther(reencryptStep: (count: number) => Promise<number>): void {
    this.others.push(reencryptStep);
  }

  /**
   * Encrypts with the first configured key every stored secret that another key has encrypted. It can be
   * stopped and run again at any time. Each workspace gets an audit entry for every hundred of its secrets.
   * @returns how many secrets another key had encrypted
   * @throws SecretUnreadable if the key of a stored secret is not configured
   */
  async reencrypt(actor: Actor = SYSTEM): Promise<{ reencrypted: number }> {
    let reencrypted = 0;
    for (const column of this.tables.listSecrets()) {
      let last: SecretKey | undefined = { tenantId: LOWEST_ID, id: LOWEST_ID };
      while (last) {
        const found = await this.rows.findSecrets(column, this.secrets.currentKeyId, last, BATCH);
        last = found.at(-1);
        for (const [tenantId, keys] of groupBy(found, (key) => key.tenantId)) {
          const ids = keys.map(({ id }) => id);
          reencrypted += await this.database.transaction((tx) =>
            this.reencryptRows(tx, tenantId, column, ids, actor),
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

  private async reencryptRows(
    tx: Transaction,
    tenantId: string,
    column: SecretColumn,
    ids: string[],
    actor: Actor,
  ): Promise<number> {
    await requirePermission(tx, tenantId, actor, 'secret.reencrypt');
    const stored = await this.rows.lockSecrets(tx, column, tenantId, ids, this.secrets.currentKeyId);
    if (stored.length === 0) return 0;
    for (const { id, ...sealed } of stored) {
      const encrypted = this.secrets.encrypt(this.secrets.decrypt(sealed, id), id);
      await this.rows.updateSecret(tx, column, tenantId, { id, ...encrypted });
    }
    const subject = { tenantId, actor, entity: 'workspace', entityId: tenantId };
    const metadata = { of: column.table, count: stored.length };
    this.audit.appendPipelined(tx, { ...subject, action: 'workspace.secrets_reencrypted', metadata });
    return stored.length;
  }
}
