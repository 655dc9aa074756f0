import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Connection, ConnectionKey } from '../adapters/channel-adapter';
import { InstagramAdapter, InstagramCredentials, RefreshOutcome } from '../adapters/meta/instagram-adapter';
import { ConnectionChanges } from '../connections/connection-changes';
import { ConnectionLoader } from '../connections/connection-loader';
import { InstagramTokensRepository } from './instagram-tokens.repository';

export interface RefreshedTokens {
  refreshed: number;
  failed: number;
}

@Injectable()
export class InstagramTokensService {
  private readonly logger = new Logger(InstagramTokensService.name);

  constructor(
    private readonly database: Database,
    private readonly tokens: InstagramTokensRepository,
    private readonly instagram: InstagramAdapter,
    private readonly connections: ConnectionChanges,
    private readonly loader: ConnectionLoader,
  ) {}

  /** Tries once to refresh each due token. Tokens whose refresh fails are due again the next day. */
  async refreshDue(stop?: AbortSignal): Promise<RefreshedTokens> {
    const count: RefreshedTokens = { refreshed: 0, failed: 0 };
    for (const key of await this.tokens.listDue()) {
      if (stop?.aborted) break;
      const outcome = await this.tryRefresh(key);
      if (outcome) count[outcome === 'REFRESHED' ? 'refreshed' : 'failed']++;
    }
    return count;
  }

  /** Refreshes a token. Logs an error instead of throwing it, so that the next tokens are refreshed. */
  private async tryRefresh(key: ConnectionKey): Promise<RefreshOutcome['kind'] | null> {
    try {
      return await this.database.transaction((tx) => this.refresh(tx, key));
    } catch (error) {
      const details = { err: error, connectionId: key.id };
      this.logger.error(details, 'an Instagram token was not refreshed; the next day will retry');
      return 'FAILED';
    }
  }

  /**
   * Locks the connection during the call, so that no other refresh or rotation runs, but messages are sent.
   * @returns null if the token is no longer due, or another process refreshes it
   */
  private async refresh(tx: Transaction, key: ConnectionKey): Promise<RefreshOutcome['kind'] | null> {
    const isDue = await this.tokens.lockDue(tx, key);
    const connection = isDue ? await this.loader.lock(tx, key.tenantId, key.id) : null;
    if (!connection) return null;
    const outcome = await this.instagram.refresh(connection as Connection<InstagramCredentials>);
    await this.record(tx, connection, outcome);
    return outcome.kind;
  }

  private async record(tx: Transaction, connection: Connection, outcome: RefreshOutcome): Promise<void> {
    if (outcome.kind === 'REFRESHED') return this.connections.renew(tx, connection, outcome.checked);
    this.logger.warn(
      { connectionId: connection.id, fault: outcome.fault },
      'Instagram refused to refresh a token',
    );
    if (outcome.kind === 'REAUTH') await this.connections.markReauthRequired(tx, connection);
  }
}
