import { Injectable, Logger } from '@nestjs/common';
import { AlertKind } from '../../alerts/alert-kinds';
import { AlertWriter } from '../../alerts/alert-writer';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { ChannelConnectionEntity, ConnectionStatus } from './channel-connection.entity';
import { FAILING_FROM, ReplyFailuresRepository } from './reply-failures.repository';

type ConnectionState = Pick<ChannelConnectionEntity, 'tenantId' | 'id' | 'failedReplies'>;

/** Replies over a connection whose outcomes became known together. */
export interface ReplyOutcomes {
  failed: number;
  hasArrived: boolean;
}

/** Alerts of a connection that its new status resolves. */
const RESOLVED_BY: Record<ConnectionStatus, AlertKind[]> = {
  ACTIVE: ['CHANNEL_NEEDS_CREDENTIALS', 'REPLIES_FAILING'],
  REAUTH_REQUIRED: ['CHANNEL_RECEIVES_NOTHING', 'REPLIES_FAILING'],
  DISCONNECTED: ['CHANNEL_NEEDS_CREDENTIALS', 'CHANNEL_RECEIVES_NOTHING', 'REPLIES_FAILING'],
};

/** Opens and resolves the alerts of connections. */
@Injectable()
export class ConnectionAlerts {
  private readonly logger = new Logger(ConnectionAlerts.name);

  constructor(
    private readonly database: Database,
    private readonly failures: ReplyFailuresRepository,
    private readonly alerts: AlertWriter,
  ) {}

  /** Opens and resolves the alerts of which a new status is the cause. */
  async changeStatus(
    tx: Transaction,
    { tenantId, id, status }: Pick<ChannelConnectionEntity, 'tenantId' | 'id' | 'status'>,
  ): Promise<void> {
    await this.failures.clear(tx, { tenantId, id });
    await this.alerts.resolve(tx, tenantId, RESOLVED_BY[status], id);
    if (status === 'REAUTH_REQUIRED') await this.alerts.open(tx, tenantId, 'CHANNEL_NEEDS_CREDENTIALS', id);
  }

  /**
   * Notes the recorded outcomes of replies. Costs a statement only for failures before the alert, and for the
   * first reply that arrives after a failure. If that fails, a later outcome makes the same change.
   * @param connection as it was before the outcomes
   */
  async noteReplies(connection: ConnectionState, { failed, hasArrived }: ReplyOutcomes): Promise<void> {
    const { tenantId, id: connectionId, failedReplies } = connection;
    const changes = hasArrived ? failedReplies > 0 : failed > 0 && failedReplies < FAILING_FROM;
    if (!changes) return;
    try {
      await this.database.placement.forWorkspace(tenantId, () =>
        this.database.transaction((tx) =>
          hasArrived ? this.endFailing(tx, connection) : this.countFailed(tx, connection, failed),
        ),
      );
    } catch (error) {
      const details = { err: error as Error, tenantId, connectionId };
      this.logger.warn(details, 'outcomes of replies were not noted; a later one will be');
    }
  }

  private async endFailing(tx: Transaction, { tenantId, id }: ConnectionState): Promise<void> {
    const isCleared = await this.failures.clear(tx, { tenantId, id });
    if (isCleared) await this.alerts.resolve(tx, tenantId, ['REPLIES_FAILING'], id);
  }

  private async countFailed(
    tx: Transaction,
    { tenantId, id }: ConnectionState,
    failed: number,
  ): Promise<void> {
    const failedReplies = await this.failures.count(tx, { tenantId, id }, failed);
    if (failedReplies >= FAILING_FROM) await this.alerts.open(tx, tenantId, 'REPLIES_FAILING', id);
  }
}
