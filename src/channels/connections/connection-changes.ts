import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Actor, SYSTEM } from '../../access/principal';
import { AuditRecord, AuditService } from '../../audit/audit.service';
import { changedValues, valuesOf } from '../../audit/changed-values';
import { Transaction } from '../../database/transaction';
import { OutboxService } from '../../outbox/outbox.service';
import { SecretBox } from '../../secrets/secret-box';
import { CheckedCredentials, Connection } from '../adapters/channel-adapter';
import { ChannelConnectionEntity, ConnectionStatus } from './channel-connection.entity';
import { ChannelConnectionsRepository } from './channel-connections.repository';
import { ConnectionAlerts } from './connection-alerts';
import { ConnectionLoader } from './connection-loader';

type ConnectionAction = 'connected' | 'rotated' | 'renewed' | 'disconnected' | 'reauth_required';

/** Fields of a connection that audit entries contain. Credentials are never among them. */
const AUDITED = ['settings', 'status', 'credentialsExpireAt'] as const;

type SealedCredentials = Pick<
  ChannelConnectionEntity,
  'settings' | 'credentialsCiphertext' | 'credentialsKeyId' | 'credentialsExpireAt'
>;

/** Stores changes of connections. Appends an audit entry, and an event if the status changes. */
@Injectable()
export class ConnectionChanges {
  constructor(
    private readonly connections: ChannelConnectionsRepository,
    private readonly loader: ConnectionLoader,
    private readonly secrets: SecretBox,
    private readonly audit: AuditService,
    private readonly outbox: OutboxService,
    private readonly alerts: ConnectionAlerts,
  ) {}

  /** Encrypts the credentials of connection `id`. The ciphertext cannot be decrypted for another id. */
  seal(
    id: string,
    { credentials, settings, expireAt }: Pick<CheckedCredentials, 'credentials' | 'settings' | 'expireAt'>,
  ): SealedCredentials {
    const { keyId, ciphertext } = this.secrets.encrypt(JSON.stringify(credentials), id);
    return {
      settings,
      credentialsKeyId: keyId,
      credentialsCiphertext: ciphertext,
      credentialsExpireAt: expireAt,
    };
  }

  recordConnected(tx: Transaction, connection: ChannelConnectionEntity, actor: Actor): void {
    this.recordPipelined(tx, connection, 'connected', actor, { after: valuesOf(connection, AUDITED) });
    this.tellPipelined(tx, connection, null);
  }

  async update(
    tx: Transaction,
    before: ChannelConnectionEntity,
    changes: Partial<ChannelConnectionEntity>,
    action: ConnectionAction,
    actor: Actor = SYSTEM,
  ): Promise<ChannelConnectionEntity> {
    const after = { ...before, ...changes, updatedAt: new Date() };
    await this.connections.update(tx, after);
    if (after.status !== before.status) {
      this.tellPipelined(tx, after, before.status);
      await this.alerts.changeStatus(tx, after);
    }
    this.recordPipelined(tx, after, action, actor, changedValues(before, after, AUDITED));
    return after;
  }

  /**
   * Stops sending over a connection until its credentials are rotated. Meanwhile, workers fail its pending
   * outbound messages in the background.
   * @param connection with the credentials that the provider has refused
   * @returns false, without a change, if it is disconnected or its credentials were rotated
   */
  async markReauthRequired(tx: Transaction, connection: Connection): Promise<boolean> {
    const { tenantId, id, credentials } = connection;
    const before = await this.connections.lock(tx, tenantId, id, 'with claims');
    if (!before || !isDeepStrictEqual(this.loader.open(before).credentials, credentials)) return false;
    if (before.status !== 'REAUTH_REQUIRED')
      await this.update(tx, before, { status: 'REAUTH_REQUIRED' }, 'reauth_required');
    return true;
  }

  /** Stores credentials that the provider has renewed. Does nothing if the connection is disconnected. */
  async renew(tx: Transaction, { tenantId, id }: Connection, checked: CheckedCredentials): Promise<void> {
    const before = await this.connections.lock(tx, tenantId, id, 'with claims');
    if (before) await this.update(tx, before, this.seal(id, checked), 'renewed');
  }

  private tellPipelined(
    tx: Transaction,
    { tenantId, id: connectionId, channel, status }: ChannelConnectionEntity,
    previousStatus: ConnectionStatus | null,
  ): void {
    const data = { connectionId, channel, status, previousStatus };
    this.outbox.appendPipelined(tx, tenantId, 'channel.status_changed', data);
  }

  private recordPipelined(
    tx: Transaction,
    { tenantId, id, channel, externalId }: ChannelConnectionEntity,
    action: ConnectionAction,
    actor: Actor,
    changed: Pick<AuditRecord, 'before' | 'after'> | null,
  ): void {
    const subject = { tenantId, actor, entity: 'channel_connection', entityId: id };
    const metadata = { channel, externalId };
    this.audit.appendPipelined(tx, {
      ...subject,
      action: `channel_connection.${action}`,
      ...changed,
      metadata,
    });
  }
}
