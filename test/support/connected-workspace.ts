import { ConnectedChannel, DisconnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { Channel } from '../../src/common/channel-descriptors';
import { SYSTEM } from '../../src/access/principal';
import { DeliveryError, DeliveryStatus } from '../../src/common/message-status';
import { MessageResponse } from '../../src/messages/message.dto';
import { Target } from '../../src/queue/targets';
import { openRedis } from './redis-connections';
import { TestService } from './service';
import { TelegramSimulator } from './simulators/telegram';
import { waitFor } from './wait';

let lastAccount = 7_100_000;
let lastCustomer = 16_505_550_000;

/** A conversation over a channel. */
export interface Chat {
  conversation: { id: string };
  /** Id of the customer at the provider. */
  customerId: string;
  send(body: string): Promise<MessageResponse>;
}

export interface SentDelivery {
  status: DeliveryStatus;
  error: DeliveryError | null;
}

/** A workspace with an agent and one connected channel. */
export class ConnectedWorkspace {
  protected constructor(
    protected readonly service: TestService,
    readonly workspace: { id: string },
    readonly connection: ConnectedChannel,
  ) {}

  static telegram(service: TestService): Promise<ConnectedWorkspace> {
    return ConnectedWorkspace.make(service, 'TELEGRAM', { botToken: TelegramSimulator.token(++lastAccount) });
  }

  static whatsApp(service: TestService): Promise<ConnectedWorkspace> {
    const phoneNumberId = String(++lastAccount);
    const credentials = { phoneNumberId, accessToken: `token-${lastAccount}`, appSecret: 'app-secret' };
    return ConnectedWorkspace.make(service, 'WHATSAPP', credentials);
  }

  private static async make(service: TestService, channel: Channel, credentials: object) {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const connection = await connect(service, workspace, channel, credentials);
    return new ConnectedWorkspace(service, workspace, connection);
  }

  /** Creates a conversation with a customer who has an identity on the channel, and has not written. */
  async chat(): Promise<Chat> {
    const { service, workspace, connection } = this;
    const customerId = String(++lastCustomer);
    const contact = await service.make.contact(workspace);
    await service.query('INSERT INTO contact_identities VALUES ($1, $2, $3, $4, now())', [
      workspace.id,
      connection.channel,
      customerId,
      contact.id,
    ]);
    const { channel } = connection;
    const conversation = await service.make.conversation(workspace, { channel, contactId: contact.id });
    return { conversation, customerId, send: (body) => service.make.sent(workspace, conversation, body) };
  }

  get target(): Target {
    return { tenantId: this.workspace.id, id: this.connection.id };
  }

  rotate(credentials: object): Promise<ConnectedChannel> {
    return connectionsOf(this.service).rotate(this.workspace.id, this.connection.id, credentials, SYSTEM);
  }

  disconnect(): Promise<DisconnectedChannel> {
    return connectionsOf(this.service).disconnect(this.workspace.id, this.connection.id, SYSTEM);
  }

  async status(): Promise<string> {
    return (await connectionsOf(this.service).get(this.workspace.id, this.connection.id, SYSTEM)).status;
  }

  /** Uses up the connection's rate limit for three seconds. */
  async exhaustThroughput(): Promise<void> {
    const redis = openRedis(this.service.stores.redisUrl);
    await redis.set(`throughput:${this.connection.id}`, 30, 'EX', 3);
    redis.disconnect();
  }

  /** Ends the connection's pause, and makes its retries due. */
  async hasten(): Promise<void> {
    const { id } = this.connection;
    await this.service.query('UPDATE channel_connections SET paused_until = NULL WHERE id = $1', [id]);
    await this.service.query(
      `UPDATE outbound_messages SET next_attempt_at = now() - interval '2 seconds'
       WHERE connection_id = $1 AND lease_id IS NULL`,
      [id],
    );
  }
}

export function connect(
  service: TestService,
  workspace: { id: string },
  channel: Channel,
  credentials: object,
): Promise<ConnectedChannel> {
  return connectionsOf(service).connect(workspace.id, { channel, credentials }, SYSTEM);
}

function connectionsOf(service: TestService): ChannelConnectionsService {
  return service.app.get(ChannelConnectionsService);
}

export async function deliveryOf(service: TestService, { id }: MessageResponse): Promise<SentDelivery> {
  const [row] = await service.query<SentDelivery>(
    'SELECT delivery_status AS status, delivery_error AS error FROM messages WHERE id = $1',
    [id],
  );
  return row!;
}

/** Waits until a message is among those that workers send. */
export async function waitForRouting(service: TestService, { id }: MessageResponse): Promise<void> {
  await waitFor('the message to be routed', async () => {
    const rows = await service.query('SELECT FROM outbound_messages WHERE message_id = $1', [id]);
    return rows.length === 1;
  });
}

/** Waits until a message has one of the statuses. */
export function waitForStatus(
  service: TestService,
  message: MessageResponse,
  status: DeliveryStatus | DeliveryStatus[],
  timeoutMs?: number,
): Promise<SentDelivery> {
  const statuses = [status].flat();
  const deliveryIfReached = async () => {
    const delivery = await deliveryOf(service, message);
    return statuses.includes(delivery.status) && delivery;
  };
  return waitFor(`"${message.body}" to be ${statuses.join(' or ')}`, deliveryIfReached, timeoutMs);
}
