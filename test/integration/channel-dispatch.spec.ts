import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/common/principal';
import { MessageResponse } from '../../src/messages/message.response';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';

describe('sending over channels', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let lastBot = 7_100_000;
  let lastChat = 500;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    service = await TestService.create({ role: 'all', env: environment() });
  });
  afterAll(async () => {
    await service.close();
    await telegram.stop();
  });

  function environment(): Record<string, string> {
    return { TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://messaging.example.com' };
  }

  /** A workspace with a bot of its own. */
  async function connected() {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const botToken = TelegramSimulator.token(++lastBot);
    const connection = await service.app
      .get(ChannelConnectionsService)
      .connect(workspace.id, { channel: 'TELEGRAM', credentials: { botToken } }, SYSTEM);
    return { workspace, botToken, connection };
  }

  /** A conversation with somebody who has started the bot. */
  async function chat(workspace: { id: string }) {
    const chatId = ++lastChat;
    const contact = await service.make.contact(workspace);
    await service.query(`INSERT INTO contact_identities VALUES ($1, 'TELEGRAM', $2, $3, now())`, [
      workspace.id,
      chatId,
      contact.id,
    ]);
    const conversation = await service.make.conversation(workspace, {
      channel: 'TELEGRAM',
      contactId: contact.id,
    });
    return { chatId, conversation, send: (body: string) => service.make.sent(workspace, conversation, body) };
  }

  async function deliveryOf({ id }: MessageResponse) {
    const [row] = await service.query<{ status: string; error: object | null }>(
      'SELECT delivery_status AS status, delivery_error AS error FROM messages WHERE id = $1',
      [id],
    );
    return row!;
  }

  async function waitForStatus(message: MessageResponse, status: string): Promise<void> {
    await waitFor(`a message to be ${status}`, async () => (await deliveryOf(message)).status === status);
  }

  it('sends a reply to its customer', async () => {
    const { workspace } = await connected();
    const { chatId, send } = await chat(workspace);

    const message = await send('Hello!');
    await waitForStatus(message, 'SENT');

    expect(telegram.sendsTo(chatId).map(({ body }) => body.text)).toEqual(['Hello!']);
    expect(await deliveryOf(message)).toEqual({ status: 'SENT', error: null });
  });
});
