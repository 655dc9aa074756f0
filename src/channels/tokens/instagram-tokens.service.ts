import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Connection } from '../adapters/channel-adapter';
import { InstagramAdapter, InstagramCredentials, RefreshOutcome } from '../adapters/instagram.adapter';
import { ChannelConnectionsService } from '../connections/channel-connections.service';
import { ConnectionLoader } from '../connections/connection.loader';

/**
 * Instagram refuses to replace a token that is younger than 24 hours. From ten days before its end on there are ten
 * chances, one a day. When a token ends is only assumed until it has been replaced once, so that is done at once.
 */
const DUE = `
  channel = 'INSTAGRAM' AND status = 'ACTIVE'
  AND (settings->>'accessTokenSince')::timestamptz <= now() - interval '24 hours'
  AND (credentials_expire_at <= now() + interval '10 days' OR (settings->>'isExpiryAssumed')::boolean)`;

interface ConnectionKey {
  tenantId: string;
  id: string;
}

/** What became of the tokens that were due. */
export interface RefreshedTokens {
  refreshed: number;
  failed: number;
}

/** Replaces Instagram's tokens before they end. */
@Injectable()
export class InstagramTokensService {
  private readonly logger = new Logger(InstagramTokensService.name);

  constructor(
    private readonly database: Database,
    private readonly instagram: InstagramAdapter,
    private readonly connections: ChannelConnectionsService,
    private readonly loader: ConnectionLoader,
  ) {}

  /** One after the other, each once, until all are through or it is stopped. What fails is due again the next day. */
  async refreshDue(stop?: AbortSignal): Promise<RefreshedTokens> {
    const due = await this.database.query<ConnectionKey>(
      `SELECT tenant_id AS "tenantId", id FROM channel_connections WHERE ${DUE} ORDER BY credentials_expire_at`,
    );
    const count: RefreshedTokens = { refreshed: 0, failed: 0 };
    for (const key of due) {
      if (stop?.aborted) break;
      const outcome = await this.refreshLogged(key);
      if (outcome) count[outcome === 'REFRESHED' ? 'refreshed' : 'failed']++;
    }
    return count;
  }

  /** One that can't be done must not keep the others from it. */
  private async refreshLogged(key: ConnectionKey): Promise<RefreshOutcome['kind'] | null> {
    try {
      return await this.database.transaction((tx) => this.refresh(tx, key));
    } catch (error) {
      const about = { err: error, connectionId: key.id };
      this.logger.error(about, 'an Instagram token was not refreshed; it is tried again the next day');
      return 'FAILED';
    }
  }

  /**
   * Holds the connection's row while Instagram is asked, so that no two ask at once and none stores what a rotation has
   * made obsolete. Messages go on being sent: they only read it.
   * @returns null when it was not due any more, or is somebody else's
   */
  private async refresh(tx: Transaction, key: ConnectionKey): Promise<RefreshOutcome['kind'] | null> {
    const [locked] = await tx.query<object>(
      `SELECT FROM channel_connections WHERE tenant_id = $1 AND id = $2 AND ${DUE} FOR NO KEY UPDATE SKIP LOCKED`,
      [key.tenantId, key.id],
    );
    const connection = locked ? await this.loader.lock(tx, key.tenantId, key.id) : null;
    if (!connection) return null;
    const outcome = await this.instagram.refresh(connection as Connection<InstagramCredentials>);
    await this.record(tx, connection, outcome);
    return outcome.kind;
  }

  private async record(tx: Transaction, connection: Connection, outcome: RefreshOutcome): Promise<void> {
    if (outcome.kind === 'REFRESHED') return this.connections.renew(tx, connection, outcome.checked);
    this.logger.warn({ connectionId: connection.id, fault: outcome.fault }, 'Instagram gave no new token');
    if (outcome.kind === 'REAUTH') await this.connections.markReauthRequired(tx, connection);
  }
}
