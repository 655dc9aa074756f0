import { AuditService } from '../../src/audit/audit.service';
import { Connection } from '../../src/channels/adapters/channel-adapter';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ConnectionChanges } from '../../src/channels/connections/connection-changes';
import { ChannelConnectionsRepository } from '../../src/channels/connections/channel-connections.repository';
import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { AppError } from '../../src/common/app-error';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { SecretBox } from '../../src/secrets/secret-box';
import { Database } from '../../src/database/database';
import { Transaction } from '../../src/database/transaction';
import { KeyRotationService } from '../../src/secrets/key-rotation.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

describe('channel connections', () => {
  let telegram: TelegramSimulator;
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let botToken: string;
  let bots = 9_000_000;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    host = await MessagingHost.create({
      providerUrls: { TELEGRAM_API_URL: telegram.url },
      publicUrl: 'https://chat.example/',
    });
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    botToken = TelegramSimulator.token(bots++);
  });

  const connections = () => host.get(ChannelConnectionsService);
  const connect = (token = botToken, { id } = workspace, actor: Actor = SYSTEM) =>
    connections().connect(id, { channel: 'TELEGRAM', credentials: { botToken: token } }, actor);
  const stored = () => host.query('SELECT * FROM channel_connections WHERE tenant_id = $1', [workspace.id]);
  const loaded = async (id: string) => (await host.get(ConnectionLoader).load(workspace.id, id))!;
  const auditOf = async ({ id } = workspace) =>
    (await host.get(AuditService).list(id, { limit: 10 }, SYSTEM)).data
      .filter(({ entity }) => entity === 'channel_connection')
      .map(({ action, entityId, actorType, actorId, metadata }) => ({
        action,
        entityId,
        actor: { type: actorType, id: actorId },
        metadata,
      }));
  /** Token of the same bot that @BotFather makes when the old one is revoked. */
  const renewed = () => botToken.replace(/x+$/, (pad) => 'y'.repeat(pad.length));

  describe('connecting', () => {
    it('registers an unguessable hook at the provider, and returns the connection', async () => {
      const connected = await connect();
      const { url, secret_token: secret } = telegram.webhooks.get(botToken)!;
      expect(url).toMatch(/^https:\/\/chat\.example\/channels\/telegram\/[0-9A-Za-z]{32}$/);
      expect(connected).toEqual({
        id: expect.any(String),
        channel: 'TELEGRAM',
        externalId: botToken.split(':')[0],
        status: 'ACTIVE',
        hookUrl: url,
        snippet: null,
        settings: {},
        credentialsExpireAt: null,
        lastReceivedAt: null,
        createdAt: expect.any(Date),
        updatedAt: expect.any(Date),
        reveal: {},
      });
      const { reveal, ...summary } = connected;
      expect(reveal).toEqual({});
      expect(await connections().list(workspace.id, SYSTEM)).toEqual([summary]);
      expect(await connections().get(workspace.id, connected.id, SYSTEM)).toEqual(summary);
      expect(await loaded(connected.id)).toMatchObject({ credentials: { botToken, secretToken: secret } });
    });

    it('stores secrets encrypted, and returns none', async () => {
      const connected = await connect();
      const secret = telegram.webhooks.get(botToken)!.secret_token!;
      const [row] = await stored();
      const returned = JSON.stringify([
        connected,
        await connections().list(workspace.id, SYSTEM),
        await auditOf(),
      ]);
      for (const text of [
        JSON.stringify(row),
        (row!.credentials_ciphertext as Buffer).toString('latin1'),
        returned,
      ]) {
        expect(text).not.toContain(botToken);
        expect(text).not.toContain(secret);
      }
    });

    it('records who did it', async () => {
      const agent = await host.make.agent(workspace);
      const actor: Actor = { type: 'agent', id: agent.id };
      const { id, externalId } = await connect(botToken, workspace, actor);
      expect(await auditOf()).toEqual([
        {
          action: 'channel_connection.connected',
          entityId: id,
          actor,
          metadata: { channel: 'TELEGRAM', externalId },
        },
      ]);
    });

    it('stores nothing when the provider refuses the token', async () => {
      telegram.revokedTokens.add(botToken);
      await expect(connect()).rejects.toMatchObject({
        code: 'INVALID_BODY',
        message: expect.stringContaining('Unauthorized'),
      });
      expect(await stored()).toEqual([]);
      expect(await auditOf()).toEqual([]);
    });

    it('stores nothing when the provider can’t be reached', async () => {
      const unreachable = await MessagingHost.create({
        beside: host,
        providerUrls: { TELEGRAM_API_URL: 'http://127.0.0.1:1' },
      });
      try {
        const connecting = unreachable
          .get(ChannelConnectionsService)
          .connect(workspace.id, { channel: 'TELEGRAM', credentials: { botToken } }, SYSTEM);
        await expect(connecting).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message:
            "The provider can't be reached: ECONNREFUSED. Its address is http://127.0.0.1:1 (TELEGRAM_API_URL).",
        });
        expect(await stored()).toEqual([]);
      } finally {
        await unreachable.close();
      }
    });

    it.each([
      ['an unknown channel', { channel: 'FAX', credentials: {} }],
      ['no credentials', { channel: 'TELEGRAM' }],
      ['credentials that are no object', { channel: 'TELEGRAM', credentials: 'token' }],
      ['credentials of another channel', { channel: 'TELEGRAM', credentials: { pageId: '1' } }],
      ['a malformed token', { channel: 'TELEGRAM', credentials: { botToken: 'x' } }],
      ['an unknown field', { channel: 'TELEGRAM', credentials: {}, colour: 'red' }],
    ])('refuses %s without a call to the provider', async (_, input) => {
      const calls = telegram.calls.length;
      await expectRefusal(connections().connect(workspace.id, input as never, SYSTEM), 'INVALID_BODY');
      expect(telegram.calls).toHaveLength(calls);
    });

    it('refuses a second account without a call to its provider', async () => {
      const { id } = await connect();
      const second = TelegramSimulator.token(bots++);
      await expectRefusal(connect(second), 'INVALID_BODY');
      await expectRefusal(connect(), 'INVALID_BODY');
      expect(telegram.webhooks.has(second)).toBe(false);
      expect((await connections().list(workspace.id, SYSTEM)).map((connection) => connection.id)).toEqual([
        id,
      ]);
    });

    it('makes one connection of many at once, and the provider calls this one', async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => connect()));
      const made = outcomes.filter((outcome) => outcome.status === 'fulfilled');
      expect(made).toHaveLength(1);
      expect(telegram.webhooks.get(botToken)!.url).toBe(made[0]!.value.hookUrl);
      expect(await stored()).toHaveLength(1);
    });

    it('refuses an account that another workspace has connected; the provider still calls that one', async () => {
      const { hookUrl, externalId } = await connect();
      const stranger = await host.make.workspace();
      await expect(connect(renewed(), stranger)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        message: `credentials are those of ${externalId}, which is connected in another workspace; disconnect it there first.`,
      });
      expect(telegram.webhooks.has(renewed())).toBe(false);
      expect(telegram.webhooks.get(botToken)!.url).toBe(hookUrl);
      expect(await connections().list(stranger.id, SYSTEM)).toEqual([]);
      expect(await auditOf(stranger)).toEqual([]);
    });

    it('does not say that an account is connected elsewhere to who has no right to it', async () => {
      await connect();
      const stranger = await host.make.workspace();
      const refusals: AppError[] = [];
      for (const token of [renewed(), TelegramSimulator.token(bots++)]) {
        telegram.revokedTokens.add(token);
        await connect(token, stranger).catch((error: AppError) => refusals.push(error));
      }
      expect(refusals[0]).toMatchObject({ code: 'INVALID_BODY', message: refusals[1]!.message });
      expect(await connections().list(stranger.id, SYSTEM)).toEqual([]);
    });

    it('makes one connection when several workspaces connect an account at once', async () => {
      const others = await Promise.all([1, 2, 3].map(() => host.make.workspace()));
      const outcomes = await Promise.allSettled(
        [workspace, ...others].map((tenant) => connect(botToken, tenant)),
      );
      const made = outcomes.filter((outcome) => outcome.status === 'fulfilled');
      expect(made).toHaveLength(1);
      expect(telegram.webhooks.get(botToken)!.url).toBe(made[0]!.value.hookUrl);
      for (const outcome of outcomes.filter(({ status }) => status === 'rejected'))
        expect(outcome).toMatchObject({ reason: { code: 'INVALID_BODY' } });
    });

    it.each([
      ['with an unknown id', newId()],
      ['with an invalid id', 'nope'],
    ])('finds no workspace %s', async (_, id) => {
      const calls = telegram.calls.length;
      await expectRefusal(connect(botToken, { ...workspace, id }), 'NOT_FOUND');
      expect(await connections().list(id, SYSTEM)).toEqual([]);
      expect(telegram.calls).toHaveLength(calls);
    });

    it('refuses an agent of another workspace', async () => {
      const agent = await host.make.agent(await host.make.workspace());
      await expectRefusal(connect(botToken, workspace, { type: 'agent', id: agent.id }), 'INVALID_BODY');
      expect(await stored()).toEqual([]);
    });
  });

  describe('rotating', () => {
    it('replaces the credentials at once', async () => {
      const { id, hookUrl, createdAt } = await connect();
      const rotated = await connections().rotate(workspace.id, id, { botToken: renewed() }, SYSTEM);
      expect(rotated).toMatchObject({ id, hookUrl, createdAt, status: 'ACTIVE', reveal: {} });
      const { url, secret_token: secretToken } = telegram.webhooks.get(renewed())!;
      expect(url).toBe(hookUrl);
      expect((await loaded(id)).credentials).toEqual({ botToken: renewed(), secretToken });
      expect((await auditOf()).map(({ action }) => action)).toEqual([
        'channel_connection.rotated',
        'channel_connection.connected',
      ]);
    });

    it('changes nothing when the provider refuses them', async () => {
      const { id } = await connect();
      const before = await stored();
      telegram.revokedTokens.add(renewed());
      await expectRefusal(
        connections().rotate(workspace.id, id, { botToken: renewed() }, SYSTEM),
        'INVALID_BODY',
      );
      expect(await stored()).toEqual(before);
    });

    it('refuses another account’s without a call to the provider', async () => {
      const { id } = await connect();
      const calls = telegram.calls.length;
      const other = { botToken: TelegramSimulator.token(bots++) };
      await expectRefusal(connections().rotate(workspace.id, id, other, SYSTEM), 'INVALID_BODY');
      expect(telegram.calls).toHaveLength(calls);
    });

    it('makes a connection in REAUTH_REQUIRED active again', async () => {
      const { id } = await connect();
      const used = await loaded(id);
      expect(await markReauthRequired(used)).toBe(true);
      await connections().rotate(workspace.id, id, { botToken: renewed() }, SYSTEM);
      expect(await connections().get(workspace.id, id, SYSTEM)).toMatchObject({ status: 'ACTIVE' });
      expect(await markReauthRequired(used)).toBe(false);
      expect(await connections().get(workspace.id, id, SYSTEM)).toMatchObject({ status: 'ACTIVE' });
    });
  });

  const markReauthRequired = (connection: Connection) =>
    host.get(Database).transaction((tx) => host.get(ConnectionChanges).markReauthRequired(tx, connection));

  describe('credentials that no longer work', () => {
    it('are marked once, and then the pending messages fail', async () => {
      const { id } = await connect();
      const messages = await insertMessages(id);
      const used = await loaded(id);
      expect([await markReauthRequired(used), await markReauthRequired(used)]).toEqual([true, true]);
      expect(await connections().get(workspace.id, id, SYSTEM)).toMatchObject({ status: 'REAUTH_REQUIRED' });
      await expectOutcome(messages, 'REAUTH_REQUIRED');
      expect((await auditOf()).map(({ action }) => action)).toEqual([
        'channel_connection.reauth_required',
        'channel_connection.connected',
      ]);
    });

    it('don’t keep the channel from being disconnected and connected again', async () => {
      const { id } = await connect();
      await markReauthRequired(await loaded(id));
      telegram.revokedTokens.add(botToken);
      expect(await connections().disconnect(workspace.id, id, SYSTEM)).toMatchObject({
        status: 'DISCONNECTED',
        providerFault: expect.stringContaining('Unauthorized'),
      });
      expect(await connect(renewed())).toMatchObject({ status: 'ACTIVE' });
    });
  });

  describe('disconnecting', () => {
    it('takes effect at once: the connection is not loaded or listed; then its pending messages fail', async () => {
      const { id, hookUrl } = await connect();
      const messages = await insertMessages(id);
      const { hookKey } = await loaded(id);
      expect(await connections().disconnect(workspace.id, id, SYSTEM)).toMatchObject({
        id,
        hookUrl,
        status: 'DISCONNECTED',
        providerFault: null,
      });
      expect(telegram.webhooks.has(botToken)).toBe(false);
      const loader = host.get(ConnectionLoader);
      expect(await loader.load(workspace.id, id)).toBeNull();
      expect(await loader.loadByHookKey('TELEGRAM', hookKey)).toBeNull();
      const stored = host.get(ChannelConnectionsRepository);
      const findTelegram = (tx: Transaction) => stored.findByChannel(tx, workspace.id, 'TELEGRAM');
      expect(await host.get(Database).transaction(findTelegram)).toBeNull();
      expect(await loader.loadByAccounts('TELEGRAM', [botToken.split(':')[0]!])).toEqual([]);
      expect(await connections().list(workspace.id, SYSTEM)).toEqual([]);
      await expectRefusal(connections().get(workspace.id, id, SYSTEM), 'NOT_FOUND');
      await expectOutcome(messages, 'NO_CONNECTION');
      expect((await auditOf()).map(({ action }) => action)).toEqual([
        'channel_connection.disconnected',
        'channel_connection.connected',
      ]);
    });

    it('deletes the credentials, even when deregistering fails', async () => {
      for (const token of [botToken, TelegramSimulator.token(bots++)]) {
        const { id } = await connect(token);
        if (token !== botToken) telegram.revokedTokens.add(token);
        await connections().disconnect(workspace.id, id, SYSTEM);
        const [row] = await host.query<{ keyId: string; ciphertext: Buffer }>(
          `SELECT credentials_key_id AS "keyId", credentials_ciphertext AS ciphertext
           FROM channel_connections WHERE id = $1`,
          [id],
        );
        expect(host.get(SecretBox).decrypt(row!, id)).toBe('{}');
      }
    });

    it('happens once', async () => {
      const { id } = await connect();
      const disconnect = () => connections().disconnect(workspace.id, id, SYSTEM);
      const outcomes = await Promise.allSettled([disconnect(), disconnect()]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await expectRefusal(disconnect(), 'NOT_FOUND');
    });

    it('lets another workspace connect the account', async () => {
      const { id } = await connect();
      await connections().disconnect(workspace.id, id, SYSTEM);
      const other = await connect(botToken, await host.make.workspace());
      expect(telegram.webhooks.get(botToken)!.url).toBe(other.hookUrl);
    });
  });

  it('with unreadable credentials don’t block the others', async () => {
    const [broken, other] = [TelegramSimulator.token(bots++), TelegramSimulator.token(bots++)];
    const { id } = await connect(broken);
    const readable = await connect(other, await host.make.workspace());
    await host.query(`UPDATE channel_connections SET credentials_key_id = 'gone' WHERE id = $1`, [id]);
    const accounts = [broken, other].map((token) => token.split(':')[0]!);
    const found = await host.get(ConnectionLoader).loadByAccounts('TELEGRAM', accounts);
    expect(found.map((connection) => connection.id)).toEqual([readable.id]);
    await host.query(`DELETE FROM channel_connections WHERE id = $1`, [id]);
  });

  it.each<[string, (tenantId: string, id: string) => Promise<unknown>]>([
    ['shown', (tenantId, id) => connections().get(tenantId, id, SYSTEM)],
    ['rotated', (tenantId, id) => connections().rotate(tenantId, id, { botToken }, SYSTEM)],
    ['disconnected', (tenantId, id) => connections().disconnect(tenantId, id, SYSTEM)],
  ])('can’t be %s by another workspace or by an unknown id', async (_, act) => {
    const { id } = await connect();
    const before = await stored();
    const stranger = await host.make.workspace();
    await expectRefusal(act(stranger.id, id), 'NOT_FOUND');
    await expectRefusal(act(workspace.id, newId()), 'NOT_FOUND');
    await expectRefusal(act(workspace.id, 'nope'), 'NOT_FOUND');
    await expectRefusal(act('nope', id), 'NOT_FOUND');
    expect(await stored()).toEqual(before);
  });

  it('are encrypted again when keys are rotated', async () => {
    const { id } = await connect();
    const { credentials } = await loaded(id);
    const old = `test:${Buffer.alloc(32, 7).toString('base64')}`;
    const next = `next:${Buffer.alloc(32, 8).toString('base64')}`;
    const both = await MessagingHost.create({ beside: host, secretsKeys: `${next},${old}` });
    const after = await MessagingHost.create({ beside: host, secretsKeys: next });
    try {
      await expect(after.get(ConnectionLoader).load(workspace.id, id)).rejects.toThrow('"test" is not among');
      expect((await both.get(KeyRotationService).reencrypt()).reencrypted).toBeGreaterThan(0);
      expect(await both.get(KeyRotationService).reencrypt()).toEqual({ reencrypted: 0 });
      expect(await after.get(ConnectionLoader).load(workspace.id, id)).toMatchObject({ credentials });
    } finally {
      await both.close();
      await after.close();
    }
  });

  interface InsertedMessages {
    pending: string;
    leased: string;
    holding: string;
  }

  async function insertMessages(connectionId: string): Promise<InsertedMessages> {
    await host.make.agent(workspace);
    const insert = async (deliveryStatus: string, lease: string, holds: boolean): Promise<string> => {
      const conversation = await host.make.conversation(workspace, { channel: 'TELEGRAM' });
      const { id } = await host.make.sent(workspace, conversation);
      await host.query('UPDATE messages SET delivery_status = $2 WHERE id = $1', [id, deliveryStatus]);
      await host.query(
        `INSERT INTO outbound_messages
           (tenant_id, conversation_id, message_id, connection_id, next_attempt_at, lease_id, holds)
         SELECT $1, $2, $3, $4, now() + interval '20 seconds', ${lease}, $5`,
        [workspace.id, conversation.id, id, connectionId, holds],
      );
      return id;
    };
    return {
      pending: await insert('QUEUED', 'NULL', false),
      leased: await insert('SENDING', 'gen_random_uuid()', false),
      holding: await insert('UNKNOWN', 'NULL', true),
    };
  }

  /**
   * Expects that workers fail the QUEUED message, and leave the leased one (SENDING) and the one that holds
   * its conversation (UNKNOWN) as they are.
   */
  async function expectOutcome({ pending, leased, holding }: InsertedMessages, code: string): Promise<void> {
    const worker = await TestService.create({ role: 'worker', beside: host });
    // Its event fails it in one transaction, and the poll deletes its row of the queue in another.
    await waitFor('the pending message to fail', async () => {
      const rows = await host.query(
        `SELECT FROM messages WHERE tenant_id = $1 AND id = $2 AND delivery_status = 'FAILED'
           AND NOT EXISTS (SELECT FROM outbound_messages WHERE tenant_id = $1 AND message_id = $2)`,
        [workspace.id, pending],
      );
      return rows.length === 1;
    });
    await worker.close();
    const rows = await host.query<{
      id: string;
      status: string;
      code: string | null;
      isStored: boolean;
    }>(
      `SELECT id, delivery_status AS status, delivery_error ->> 'code' AS code,
              EXISTS (SELECT FROM outbound_messages WHERE tenant_id = $1 AND message_id = id) AS "isStored"
       FROM messages WHERE tenant_id = $1 AND id = ANY ($2)`,
      [workspace.id, [pending, leased, holding]],
    );
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(
      expect.arrayContaining([
        { id: pending, status: 'FAILED', code, isStored: false },
        { id: leased, status: 'SENDING', code: null, isStored: true },
        { id: holding, status: 'UNKNOWN', code: null, isStored: true },
      ]),
    );
  }
});
