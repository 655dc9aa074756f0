import { ChannelConnectionSummary } from '../../src/channels/connections/channel-connection.dto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { Channel } from '../../src/common/channel';
import { SYSTEM } from '../../src/common/principal';
import { DeliveryError, DeliveryStatus } from '../../src/messages/message-status';
import { MessageResponse } from '../../src/messages/message.response';
import { TestService } from './service';
import { TelegramSimulator } from './simulators/telegram';
import { waitFor } from './wait';

let lastAccount = 7_100_000;
let lastCustomer = 16_505_550_000;

/** A conversation over a channel. */
export interface Chat {
  conversation: { id: string };
  /** The customer, as the provider knows them. */
  customerId: string;
  send(body: string): Promise<MessageResponse>;
}

/** A workspace with an agent, and a connection of its own to one channel. */
export class ConnectedWorkspace {
  private constructor(
    private readonly service: TestService,
    readonly workspace: { id: string },
    readonly channel: Channel,
    readonly credentials: Record<string, string>,
    readonly connection: ChannelConnectionSummary,
  ) {}

  static async telegram(service: TestService): Promise<ConnectedWorkspace> {
    return ConnectedWorkspace.connect(service, 'TELEGRAM', {
      botToken: TelegramSimulator.token(++lastAccount),
    });
  }

  static async whatsApp(service: TestService): Promise<ConnectedWorkspace> {
    return ConnectedWorkspace.connect(service, 'WHATSAPP', {
      phoneNumberId: String(++lastAccount),
      accessToken: `token-${lastAccount}`,
      appSecret: 'app-secret',
    });
  }

  private static async connect(
    service: TestService,
    channel: Channel,
    credentials: Record<string, string>,
  ): Promise<ConnectedWorkspace> {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const connection = await service.app
      .get(ChannelConnectionsService, { strict: false })
      .connect(workspace.id, { channel, credentials }, SYSTEM);
    return new ConnectedWorkspace(service, workspace, channel, credentials, connection);
  }

  /** A conversation with a customer whom the channel knows. */
  async chat(): Promise<Chat> {
    const { service, workspace, channel } = this;
    const customerId = String(++lastCustomer);
    const contact = await service.make.contact(workspace);
    await service.query('INSERT INTO contact_identities VALUES ($1, $2, $3, $4, now())', [
      workspace.id,
      channel,
      customerId,
      contact.id,
    ]);
    const conversation = await service.make.conversation(workspace, { channel, contactId: contact.id });
    return { conversation, customerId, send: (body) => service.make.sent(workspace, conversation, body) };
  }
}

/** How far a message is, as the API says it. */
export async function deliveryOf(
  service: TestService,
  { id }: MessageResponse,
): Promise<{ status: DeliveryStatus; error: DeliveryError | null }> {
  const [row] = await service.query<{ status: DeliveryStatus; error: DeliveryError | null }>(
    'SELECT delivery_status AS status, delivery_error AS error FROM messages WHERE id = $1',
    [id],
  );
  return row!;
}

export async function waitForStatus(
  service: TestService,
  message: MessageResponse,
  status: DeliveryStatus,
  timeoutMs?: number,
): Promise<void> {
  await waitFor(
    `"${message.body}" to be ${status}`,
    async () => (await deliveryOf(service, message)).status === status,
    timeoutMs,
  );
}
