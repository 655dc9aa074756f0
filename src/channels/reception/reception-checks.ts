import { Injectable, Logger } from '@nestjs/common';
import { AlertWriter } from '../../alerts/alert-writer';
import { hookUrlOf } from '../../common/channel-descriptors';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { Connection, ConnectionKey } from '../adapters/channel-adapter';
import { TelegramAdapter, TelegramCredentials } from '../adapters/telegram/telegram-adapter';
import { ConnectionLoader } from '../connections/connection-loader';
import { ReceptionChecksRepository } from './reception-checks.repository';

/** Number of workspaces whose providers a worker asks at the same time. */
const SIDE_BY_SIDE = 4;

/**
 * Asks providers once an hour whether they reach the hooks of connections, and opens or resolves the alert
 * that a connection receives nothing. A check that has no answer changes nothing.
 */
@Injectable()
export class ReceptionChecks {
  private readonly logger = new Logger(ReceptionChecks.name);

  constructor(
    runner: WorkRunner,
    private readonly config: Config,
    private readonly database: Database,
    private readonly checks: ReceptionChecksRepository,
    private readonly connections: ConnectionLoader,
    private readonly telegram: TelegramAdapter,
    private readonly alerts: AlertWriter,
  ) {
    runner.registerFree({
      name: 'reception checks',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => checks.findDue(after, server) },
      sideBySide: SIDE_BY_SIDE,
      step: (key) => this.step(key),
    });
  }

  private async step(key: ConnectionKey): Promise<StepOutcome> {
    if (!(await this.database.queueTransaction((tx) => this.checks.claim(tx, key)))) return 'done';
    const hasFault = await this.findFault(key);
    if (hasFault === null) return 'done';
    await this.database.queueTransaction(async (tx) => {
      const connection = await this.connections.lock(tx, key.tenantId, key.id);
      if (hasFault && connection?.status === 'ACTIVE')
        await this.alerts.open(tx, key.tenantId, 'CHANNEL_RECEIVES_NOTHING', key.id);
      else await this.alerts.resolve(tx, key.tenantId, ['CHANNEL_RECEIVES_NOTHING'], key.id);
    });
    return 'done';
  }

  /** Reports whether the provider cannot deliver its messages. Returns null if that is unknown. */
  private async findFault(key: ConnectionKey): Promise<boolean | null> {
    try {
      const connection = await this.connections.load(key.tenantId, key.id);
      if (!connection) return null;
      const hookUrl = hookUrlOf(this.config.publicUrl, connection);
      return await this.telegram.hasHookFault(connection as Connection<TelegramCredentials>, hookUrl);
    } catch (error) {
      this.logger.warn({ err: error as Error, ...key }, 'a provider was not asked whether it reaches a hook');
      return null;
    }
  }
}
