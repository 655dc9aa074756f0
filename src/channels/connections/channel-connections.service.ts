import { Injectable } from '@nestjs/common';
import { Actor } from '../../access/principal';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { randomBase62 } from '../../common/base62';
import { isId, newId } from '../../common/ids';
import { Channel } from '../../common/channel-descriptors';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { RunningClaims } from '../../queue/claims/running-claims';
import { CheckedCredentials } from '../adapters/channel-adapter';
import {
  ChannelConnectionSummary,
  ConnectChannel,
  ConnectedChannel,
  DisconnectedChannel,
  toConnectionSummary,
  WidgetPreview,
} from './channel-connection.dto';
import { ChannelConnectionEntity } from './channel-connection.entity';
import { ChannelConnectionsRepository } from './channel-connections.repository';
import { ConnectionChanges } from './connection-changes';
import { ConnectionLoader } from './connection-loader';
import { ConnectionRegistration } from './connection-registration';
import { PreviewTokens } from './preview-tokens';

const HOOK_KEY_LENGTH = 32;

/** Connects workspaces to accounts at providers, for dashboards and the CLI. No HTTP route calls it. */
@Injectable()
export class ChannelConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly connections: ChannelConnectionsRepository,
    private readonly loader: ConnectionLoader,
    private readonly registration: ConnectionRegistration,
    private readonly changes: ConnectionChanges,
    private readonly previewTokens: PreviewTokens,
    private readonly claims: RunningClaims,
  ) {}

  /**
   * Connects an account and registers the hook at its provider. Stores nothing if the provider refuses. Only
   * this call returns `reveal`, the values that the operator must enter at the provider.
   *
   * The provider is called within the transaction. If two processes connect an account at the same time, only
   * one connection is stored, but the provider may keep the hook of the other.
   * @throws AppError INVALID_BODY: the credentials are incomplete or refused, the channel is already
   *   connected, or another workspace has connected the account; UNAVAILABLE: the provider does not answer;
   *   FORBIDDEN; NOT_FOUND (workspace)
   */
  async connect(tenantId: string, input: ConnectChannel, actor: Actor): Promise<ConnectedChannel> {
    const { channel, credentials } = validate(ConnectChannel, input);
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const checked = this.registration.check(channel, credentials);
    const connection = this.makeConnection(tenantId, channel, checked);
    await this.registration.transaction(tenantId, async (tx) => {
      await requirePermission(tx, tenantId, actor, 'channel_connection.connect');
      await this.connections.lockChannel(tx, tenantId, channel);
      await this.requireNotConnected(tx, connection);
      const isFree = await this.connections.insert(tx, connection);
      // `isFree` is checked last, so that only the account's owner learns that another workspace uses it.
      const proved = { ...connection, credentials: checked.credentials };
      await this.registration.prove(proved);
      if (!isFree) throw connectedElsewhere(connection);
      this.changes.recordConnected(tx, connection, actor);
      await this.registration.register(proved);
    });
    return { ...this.summarize(connection), reveal: checked.reveal };
  }

  /**
   * Lists a workspace's connections, newest first, without disconnected ones.
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
   * Returns a widget's HTML and a token, valid for an hour, for a preview in a sandboxed page. Such a page
   * has the origin `null`, which is never allowed, so it sends the token in `X-Widget-Preview`.
   * @throws AppError FORBIDDEN; NOT_FOUND, also for a connection of another channel
   */
  async previewWidget(tenantId: string, id: string, actor: Actor): Promise<WidgetPreview> {
    const { snippet } = await this.get(tenantId, id, actor);
    if (snippet === null) throw AppError.notFound('Widget');
    return { snippet, token: this.previewTokens.issue({ tenantId, id }) };
  }

  /**
   * Replaces the credentials of a connection. A connection in REAUTH_REQUIRED becomes ACTIVE.
   * @throws AppError INVALID_BODY: the credentials are incomplete, refused, or belong to another account;
   *   UNAVAILABLE: the provider does not answer; FORBIDDEN; NOT_FOUND
   */
  async rotate(tenantId: string, id: string, credentials: object, actor: Actor): Promise<ConnectedChannel> {
    const { channel } = await this.find(tenantId, id);
    return this.registration.transaction(tenantId, async (tx) => {
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
      const sealed = this.changes.seal(id, checked);
      const active = { ...sealed, status: 'ACTIVE' as const, pausedUntil: null };
      const after = await this.changes.update(tx, before, active, 'rotated', actor);
      return { ...this.summarize(after), reveal: checked.reveal };
    });
  }

  /**
   * Ends a connection at once: stops sending, refuses the provider's calls, and deletes the credentials. Then
   * removes the hook at the provider; `providerFault` says why this failed. No process begins to send a
   * message after this call has returned. Workers fail the pending outbound messages in the background.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async disconnect(tenantId: string, id: string, actor: Actor): Promise<DisconnectedChannel> {
    const { channel } = await this.find(tenantId, id);
    const { before, after } = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'channel_connection.disconnect');
      await this.connections.lockChannel(tx, tenantId, channel);
      const before = await this.connections.lock(tx, tenantId, id, 'with none');
      if (!before) throw AppError.notFound('Channel connection');
      const empty = { credentials: {}, settings: { ...before.settings }, expireAt: null };
      const ended = { ...this.changes.seal(id, empty), status: 'DISCONNECTED' as const };
      const after = await this.changes.update(tx, before, ended, 'disconnected', actor);
      await this.connections.deleteLookUps(tx, before);
      return { before, after };
    });
    const waiting = this.claims.waitForConnection(tenantId, id);
    const providerFault = await this.unregister(before);
    await waiting;
    return { ...this.summarize(after), providerFault };
  }

  private makeConnection(
    tenantId: string,
    channel: Channel,
    checked: CheckedCredentials,
  ): ChannelConnectionEntity {
    const id = newId();
    const now = new Date();
    const account = { channel, externalId: checked.externalId, hookKey: randomBase62(HOOK_KEY_LENGTH) };
    const state = { status: 'ACTIVE' as const, pausedUntil: null, lastReceivedAt: null, failedReplies: 0 };
    return {
      tenantId,
      id,
      ...account,
      ...this.changes.seal(id, checked),
      ...state,
      createdAt: now,
      updatedAt: now,
    };
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

  /**
   * Removes the hook at the provider, unless a new connection of the account needs it.
   * @returns the reason if it failed, otherwise null
   */
  private async unregister(connection: ChannelConnectionEntity): Promise<string | null> {
    try {
      const others = await this.connections.findByAccounts(connection.channel, [connection.externalId]);
      if (others.length === 0) await this.registration.unregister(this.loader.open(connection));
      return null;
    } catch (error) {
      return `deregistering failed: ${(error as Error).message}`;
    }
  }

  private summarize(connection: ChannelConnectionEntity): ChannelConnectionSummary {
    return toConnectionSummary(connection, this.registration.getAddresses(connection));
  }
}

function connectedElsewhere({ externalId }: ChannelConnectionEntity): AppError {
  return AppError.invalidBody('credentials', 'account_elsewhere', { account: externalId });
}

function anotherAccount({ externalId }: ChannelConnectionEntity, given: string): AppError {
  return AppError.invalidBody('credentials', 'account_differs', { given, account: externalId });
}
