import { randomInt } from 'node:crypto';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { DeliveryStatus } from '../../src/common/message-status';
import { MessageResponse } from '../../src/messages/message.dto';
import { connect, ConnectedWorkspace, SentDelivery, waitForStatus } from './connected-workspace';
import { TestService } from './service';
import { MessagingSimulator } from './simulators/messaging-simulator';
import { MetaHook } from './simulators/meta-simulator';

export interface StoredMessage {
  id: string;
  conversationId: string;
  senderType: string;
  body: string;
  metadata: any;
}

/** A workspace with a Messenger page or an Instagram account, its customers and its agents. */
export class MessagingChannel extends ConnectedWorkspace {
  private constructor(
    service: TestService,
    workspace: { id: string },
    connection: ConnectedChannel,
    private readonly provider: MessagingSimulator,
    private readonly credentials: { accessToken: string; appSecret: string },
  ) {
    super(service, workspace, connection);
  }

  static async connect(
    service: TestService,
    provider: MessagingSimulator,
    channel: 'MESSENGER' | 'INSTAGRAM',
    more: { appSecret?: string; facebookAppSecret?: string } = {},
  ): Promise<MessagingChannel> {
    const id = newAccountId();
    const account = channel === 'MESSENGER' ? { pageId: id } : { accountId: id };
    const credentials = { ...account, accessToken: `TOKEN+of/${id}=`, appSecret: `secret-${id}`, ...more };
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const connection = await connect(service, workspace, channel, credentials);
    return new MessagingChannel(service, workspace, connection, provider, credentials);
  }

  get accountId(): string {
    return this.connection.externalId;
  }

  get accessToken(): string {
    return this.credentials.accessToken;
  }

  get hook(): MetaHook {
    return { url: this.connection.hookUrl, appSecret: this.credentials.appSecret };
  }

  /**
   * Sends a customer's message to the hook.
   * @returns the message as stored
   */
  async write(customerId: string, text: string): Promise<StoredMessage> {
    const event = this.provider.message(this.accountId, customerId, text);
    const status = await this.notify(event);
    if (status !== 200) throw new Error(`The hook answered ${status}`);
    return (await this.messagesWith(customerId)).at(-1)!;
  }

  notify(...events: Parameters<MessagingSimulator['notification']>): Promise<number> {
    return this.provider.notify(this.hook, this.provider.notification(...events));
  }

  /** Returns the messages with a customer, oldest first. */
  messagesWith(customerId: string): Promise<StoredMessage[]> {
    return this.service.query<StoredMessage>(
      `SELECT m.id, m.conversation_id AS "conversationId", m.sender_type AS "senderType", m.body, m.metadata
       FROM messages m
       JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
       WHERE m.tenant_id = $1 AND c.identity_external_id = $2 ORDER BY m.id`,
      [this.workspace.id, customerId],
    );
  }

  send(conversationId: string, body: string): Promise<MessageResponse> {
    return this.service.make.sent(this.workspace, { id: conversationId }, body);
  }

  /** Makes a customer write and an agent answer. */
  async converse(customerId: string, body = 'Until six.'): Promise<MessageResponse> {
    const { conversationId } = await this.write(customerId, 'Opening hours?');
    return this.send(conversationId, body);
  }

  /** Waits until a message has one of the statuses. */
  delivery(message: MessageResponse, statuses: DeliveryStatus[]): Promise<SentDelivery> {
    return waitForStatus(this.service, message, statuses);
  }

  async renew(accessToken: string): Promise<void> {
    await this.rotate({ ...this.credentials, accessToken });
  }
}

export function newAccountId(): string {
  return `68${randomInt(10 ** 12)}`;
}

export function newCustomerId(): string {
  return `70${randomInt(10 ** 12)}`;
}
