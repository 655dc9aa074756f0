import { randomInt } from 'node:crypto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { SYSTEM } from '../../src/common/principal';
import { MessageResponse } from '../../src/messages/message.response';
import { TestService } from './service';
import { MessagingSimulator } from './simulators/messaging-simulator';
import { MetaHook } from './simulators/meta-simulator';
import { waitFor } from './wait';

export interface StoredMessage {
  id: string;
  conversationId: string;
  senderType: string;
  body: string;
  metadata: any;
}

type Delivery = MessageResponse['delivery'];

/** A workspace whose page or account is connected, and what its customers and agents do there. */
export class MessagingChannel {
  private constructor(
    private readonly service: TestService,
    private readonly provider: MessagingSimulator,
    readonly workspaceId: string,
    readonly accountId: string,
    readonly accessToken: string,
    readonly connection: ConnectedChannel,
    readonly hook: MetaHook,
  ) {}

  static async connect(
    service: TestService,
    provider: MessagingSimulator,
    channel: 'MESSENGER' | 'INSTAGRAM',
    more: { accountId?: string; appSecret?: string; facebookAppSecret?: string } = {},
  ): Promise<MessagingChannel> {
    const { accountId = newAccountId(), appSecret = `secret-${accountId}`, facebookAppSecret } = more;
    const accessToken = `TOKEN+of/${accountId}=`;
    const account = channel === 'MESSENGER' ? { pageId: accountId } : { accountId, facebookAppSecret };
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const credentials = { ...account, accessToken, appSecret };
    const connection = await connectionsOf(service).connect(workspace.id, { channel, credentials }, SYSTEM);
    const hook = { url: connection.hookUrl, appSecret };
    return new MessagingChannel(service, provider, workspace.id, accountId, accessToken, connection, hook);
  }

  /** A customer writes; resolves with the message as it was stored. */
  async write(customerId: string, text: string): Promise<StoredMessage> {
    const event = this.provider.message(this.accountId, customerId, text);
    const status = await this.notify(event);
    if (status !== 200) throw new Error(`The hook answered ${status}`);
    return (await this.messagesWith(customerId)).at(-1)!;
  }

  notify(...events: Parameters<MessagingSimulator['notification']>): Promise<number> {
    return this.provider.notify(this.hook, this.provider.notification(...events));
  }

  /** All messages with a customer, the oldest first. */
  messagesWith(customerId: string): Promise<StoredMessage[]> {
    return this.service.query<StoredMessage>(
      `SELECT m.id, m.conversation_id AS "conversationId", m.sender_type AS "senderType", m.body, m.metadata
       FROM messages m
       JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
       WHERE m.tenant_id = $1 AND c.identity_external_id = $2 ORDER BY m.id`,
      [this.workspaceId, customerId],
    );
  }

  /** An agent answers. */
  reply(conversationId: string, body: string): Promise<MessageResponse> {
    return this.service.make.sent({ id: this.workspaceId }, { id: conversationId }, body);
  }

  /** A customer writes and an agent answers. */
  async converse(customerId: string, body = 'Until six.'): Promise<MessageResponse> {
    const { conversationId } = await this.write(customerId, 'Opening hours?');
    return this.reply(conversationId, body);
  }

  /** What a reply's delivery is, as soon as it is one of these. */
  async delivery(
    { id }: MessageResponse,
    statuses: Delivery['status'][],
    timeoutMs?: number,
  ): Promise<Delivery> {
    return waitFor(
      `the message to be ${statuses.join(' or ')}`,
      async () => {
        const [delivery] = await this.service.query<Delivery>(
          'SELECT delivery_status AS status, delivery_error AS error FROM messages WHERE id = $1',
          [id],
        );
        return statuses.includes(delivery!.status) && delivery;
      },
      timeoutMs,
    );
  }

  async status(): Promise<string> {
    return (await connectionsOf(this.service).get(this.workspaceId, this.connection.id)).status;
  }

  /** Ends every wait of the connection, as if the time had passed. */
  async hasten(): Promise<void> {
    const { id } = this.connection;
    await this.service.query('UPDATE channel_connections SET paused_until = NULL WHERE id = $1', [id]);
    await this.service.query(
      `UPDATE message_dispatches SET next_attempt_at = now() - interval '2 seconds'
       WHERE connection_id = $1 AND lease_id IS NULL`,
      [id],
    );
  }

  async rotate(accessToken: string): Promise<void> {
    const account =
      this.connection.channel === 'MESSENGER' ? { pageId: this.accountId } : { accountId: this.accountId };
    const credentials = { ...account, accessToken, appSecret: this.hook.appSecret };
    await connectionsOf(this.service).rotate(this.workspaceId, this.connection.id, credentials, SYSTEM);
  }
}

export function newAccountId(): string {
  return `68${randomInt(10 ** 12)}`;
}

export function newCustomerId(): string {
  return `70${randomInt(10 ** 12)}`;
}

function connectionsOf(service: TestService): ChannelConnectionsService {
  return service.app.get(ChannelConnectionsService, { strict: false });
}
