import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditRecord, AuditService } from '../../audit/audit.service';
import { changedValues, valuesOf } from '../../audit/changed-values';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Actor, SYSTEM } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import { OutboxService } from '../../outbox/outbox.service';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { CheckedCredentials, Connection } from '../adapters/channel-adapter';
import {
  ChannelConnectionSummary,
  ConnectChannel,
  ConnectedChannel,
  DisconnectedChannel,
  toConnectionSummary,
  WidgetPreview,
} from './channel-connection.dto';
import { ChannelConnectionEntity, ConnectionStatus } from './channel-connection.entity';
import { ChannelConnectionsRepository, ConnectionChanges } from './channel-connections.repository';
import { ConnectionRegistration } from './connection-registration';
import { ConnectionLoader } from './connection-loader';
import { PreviewTokens } from './preview-tokens';

type ConnectionAction = 'connected' | 'rotated' | 'renewed' | 'disconnected' | 'reauth_required';

/** Fields that audit entries hold. Of the credentials they hold the end alone. */
const AUDITED = ['settings', 'status', 'credentialsExpireAt'] as const;

/**
 * Connects workspaces to accounts at the channels' providers, for dashboards and the CLI. It has no route.
 */
@Injectable()
export class ChannelConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly connections: ChannelConnectionsRepository,
    private readonly loader: ConnectionLoader,
    private readonly registration: ConnectionRegistration,
    private readonly previewTokens: PreviewTokens,
    private readonly audit: AuditService,
    private readonly outbox: OutboxService,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Connects an account, and registers the hook at its provider. Stores nothing if the provider refuses.
   * Returns once, in `reveal`, what the operator enters elsewhere, such as a verify token.
   *
   * Calls the provider within the transaction, which blocks only another connect of the same channel or
   * account: of two at once, the provider might call the hook that is not stored. A workspace makes one such
   * call at a time, and all together hold a third of the connections to the database at most.
   * @throws AppError INVALID_BODY: the credentials are incomplete or refused, the channel is connected
   *   already, or the account is connected in another workspace; UNAVAILABLE: the provider can't be reached;
   *   FORBIDDEN; NOT_FOUND (workspace)
   */
  async connect(tenantId: string, input: ConnectChannel, actor: Actor): Promise<ConnectedChannel> {
    const { channel, credentials } = validate(ConnectChannel, input);
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const { connection, checked } = this.registration.makeConnection(tenantId, channel, credentials);
    await this.callProvider(tenantId, async (tx) => {
      await requirePermission(tx, tenantId, actor, 'channel_connection.connect');
      await this.connections.lockChannel(tx, tenantId, channel);
      await this.requireNotConnected(tx, connection);
      const isFree = await this.connections.insert(tx, connection);
      // That an account is connected elsewhere is told to nobody but who may use it.
      const proved = { ...connection, credentials: checked.credentials };
      await this.registration.prove(proved);
      if (!isFree) throw connectedElsewhere(connection);
      this.recordPipelined(tx, connection, 'connected', actor, { after: valuesOf(connection, AUDITED) });
      this.tellPipelined(tx, connection, null);
      await this.registration.register(proved);
    });
    return { ...this.summarize(connection), reveal: checked.reveal };
  }

  /**
   * Lists a workspace's connections, the newest first, without disconnected ones.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<ChannelConnectionSummary[]> {
    await requireReadPermission(this.database, tenantId, actor, 'channel.read');
    return (await this.connections.list(tenantId)).map((connection) => this.summarize(connection));
  }

  /**
   * Returns a connection that is not disconnected.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<ChannelConnectionSummary> {
    await requireReadPermission(this.database, tenantId, actor, 'channel.read');
    return this.summarize(await this.find(tenantId, id));
  }

  /**
   * Returns what a page in a sandbox needs to hold a widget, though its origin is `null` and not among the
   * allowed ones: the page sends the token in the header `X-Widget-Preview`. It is good for an hour.
   * @throws AppError FORBIDDEN, NOT_FOUND: also for a connection of another channel
   */
  async previewWidget(tenantId: string, id: string, actor: Actor): Promise<WidgetPreview> {
    const { snippet } = await this.get(tenantId, id, actor);
    if (snippet === null) throw AppError.notFound('Widget');
    return { snippet, token: this.previewTokens.issue({ tenantId, id }) };
  }

  /**
   * Replaces an account's credentials, and lets it send again if the old ones no longer worked.
   * @throws AppError INVALID_BODY: the credentials are incomplete, refused, or another account's;
   *   UNAVAILABLE: the provider can't be reached; FORBIDDEN; NOT_FOUND
   */
  async rotate(tenantId: string, id: string, credentials: object, actor: Actor): Promise<ConnectedChannel> {
    const { channel } = await this.find(tenantId, id);
    return this.callProvider(tenantId, async (tx) => {
      await requirePermission(tx, tenantId, actor, 'channel_connection.rotate');
      await this.connections.lockChannel(tx, tenantId, channel);
      const before = await this.find(tenantId, id, tx);
      const previous = this.loader.open(before);
      const checked = this.registration.check(channel, credentials, previous);
      if (checked.externalId !== before.externalId) throw anotherAccount(before, checked.externalId);
      // The row is not locked yet, so messages are sent with the old credentials until the commit.
      const proved = { ...previous, credentials: checked.credentials };
      await this.registration.prove(proved);
      await this.registration.register(proved);
      const sealed = this.registration.seal(id, checked);
      const after = await this.update(tx, before, { ...sealed, status: 'ACTIVE', pausedUntil: null });
      this.recordPipelined(tx, after, 'rotated', actor, changedValues(before, after, AUDITED));
      return { ...this.summarize(after), reveal: checked.reveal };
    });
  }

  /**
   * Ends a connection at once: no message is sent over it any more, its provider's calls are refused, and its
   * credentials are deleted. Then deregisters the hook at the provider; if that fails, `providerFault` says
   * why. The workers fail its pending outbound messages in the background.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async disconnect(tenantId: string, id: string, actor: Actor): Promise<DisconnectedChannel> {
    const { channel } = await this.find(tenantId, id);
    const { before, after } = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'channel_connection.disconnect');
      await this.connections.lockChannel(tx, tenantId, channel);
      const before = await this.connections.lock(tx, tenantId, id, 'with none');
      if (!before) throw AppError.notFound('Channel connection');
      const sealed = this.registration.sealEmpty(id);
      const after = await this.update(tx, before, { ...sealed, status: 'DISCONNECTED' });
      await this.connections.deleteLookUps(tx, before);
      this.recordPipelined(tx, after, 'disconnected', actor, changedValues(before, after, AUDITED));
      return { before, after };
    });
    return { ...this.summarize(after), providerFault: await this.unregister(before) };
  }

  /**
   * Stops sending over a connection until its credentials are rotated. The workers fail its pending outbound
   * messages in the background; a rotation before their end lets the rest be sent.
   * @param connection with the credentials that the provider refused
   * @returns false when the connection has other credentials by now, or is disconnected: then nothing changes
   * @internal
   */
  async markReauthRequired(tx: Transaction, connection: Connection): Promise<boolean> {
    const { tenantId, id, credentials } = connection;
    const before = await this.connections.lock(tx, tenantId, id, 'with claims');
    if (!before || !isDeepStrictEqual(this.loader.open(before).credentials, credentials)) return false;
    if (before.status === 'REAUTH_REQUIRED') return true;
    const after = await this.update(tx, before, { status: 'REAUTH_REQUIRED' });
    this.recordPipelined(tx, after, 'reauth_required', SYSTEM, changedValues(before, after, AUDITED));
    return true;
  }

  /**
   * Stores credentials that a provider has renewed, unless the connection was disconnected.
   * @internal
   */
  async renew(tx: Transaction, { tenantId, id }: Connection, checked: CheckedCredentials): Promise<void> {
    const before = await this.connections.lock(tx, tenantId, id, 'with claims');
    if (!before) return;
    const after = await this.update(tx, before, this.registration.seal(id, checked));
    this.recordPipelined(tx, after, 'renewed', SYSTEM, changedValues(before, after, AUDITED));
  }

  /** Runs a transaction that calls a provider. It waits for its turn without the request's slot. */
  private async callProvider<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.budgets.releaseSlot();
    const release = await this.budgets.acquire('providers', tenantId);
    try {
      await this.budgets.reacquireSlot();
      return await this.database.transaction(work);
    } finally {
      release();
    }
  }

  private async find(tenantId: string, id: string, tx?: Transaction): Promise<ChannelConnectionEntity> {
    const connection = isId(tenantId) ? await this.connections.find(tenantId, id, tx) : null;
    if (connection) return connection;
    if (isId(tenantId) && (await this.connections.wasDisconnected(tenantId, id)))
      throw AppError.because('NOT_FOUND', 'connection_disconnected');
    throw AppError.notFound('Channel connection');
  }

  private async requireNotConnected(
    tx: Transaction,
    { tenantId, channel }: ChannelConnectionEntity,
  ): Promise<void> {
    const present = await this.connections.findByChannel(tx, tenantId, channel);
    if (!present) return;
    throw AppError.invalidBody('channel', 'channel_connected', { account: present.externalId });
  }

  private async update(
    tx: Transaction,
    before: ChannelConnectionEntity,
    changes: Omit<ConnectionChanges, 'updatedAt'>,
  ): Promise<ChannelConnectionEntity> {
    const stamped = { ...changes, updatedAt: new Date() };
    await this.connections.update(tx, before.tenantId, before.id, stamped);
    const after = { ...before, ...stamped };
    if (after.status !== before.status) this.tellPipelined(tx, after, before.status);
    return after;
  }

  private tellPipelined(
    tx: Transaction,
    { tenantId, id: connectionId, channel, status }: ChannelConnectionEntity,
    previousStatus: ConnectionStatus | null,
  ): void {
    const data = { connectionId, channel, status, previousStatus };
    this.outbox.appendPipelined(tx, tenantId, 'channel.status_changed', data);
  }

  /**
   * Deregisters the hook at the provider, unless the account has been connected again: then it must still
   * call.
   * @returns why it failed, or null
   */
  private async unregister(connection: ChannelConnectionEntity): Promise<string | null> {
    try {
      const others = await this.connections.findByAccounts(connection.channel, [connection.externalId]);
      const unregister = () => this.registration.unregister(this.loader.open(connection));
      if (others.length === 0) await this.budgets.waitOutside('providers', connection.tenantId, unregister);
      return null;
    } catch (error) {
      return `deregistering failed: ${(error as Error).message}`;
    }
  }

  private summarize(connection: ChannelConnectionEntity): ChannelConnectionSummary {
    return toConnectionSummary(connection, this.registration.getAddresses(connection));
  }

  private recordPipelined(
    tx: Transaction,
    { tenantId, id, channel, externalId }: ChannelConnectionEntity,
    action: ConnectionAction,
    actor: Actor,
    changed: Pick<AuditRecord, 'before' | 'after'> | null,
  ): Pipelined {
    const subject = { tenantId, actor, entity: 'channel_connection', entityId: id };
    const metadata = { channel, externalId };
    return this.audit.appendPipelined(tx, {
      ...subject,
      action: `channel_connection.${action}`,
      ...changed,
      metadata,
    });
  }
}

function connectedElsewhere({ externalId }: ChannelConnectionEntity): AppError {
  return AppError.invalidBody('credentials', 'account_elsewhere', { account: externalId });
}

function anotherAccount({ externalId }: ChannelConnectionEntity, given: string): AppError {
  return AppError.invalidBody('credentials', 'account_differs', { given, account: externalId });
}
