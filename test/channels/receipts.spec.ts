import Redis from 'ioredis';
import { InboundEcho, InboundReceipt, InboundWatermark } from '../../src/channels/adapters/hook-events';
import { SYSTEM } from '../../src/access/principal';
import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { OutboundMessagesRepository } from '../../src/channels/outbound/outbound-messages.repository';
import { OutboundMessageAttempter } from '../../src/channels/outbound/outbound-message-attempter';
import { ReceiptsService } from '../../src/channels/receipts/receipts.service';
import { newId } from '../../src/common/ids';
import { MessageResponse } from '../../src/messages/message.dto';
import { Chat, ConnectedWorkspace, deliveryOf, waitForStatus } from '../support/connected-workspace';
import { TestService } from '../support/service';
import { MetaSimulator } from '../support/simulators/meta-simulator';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

/**
 * Tests of receipts as WhatsApp sends them, and of watermarks and echoes as Messenger and Instagram send
 * them.
 */
describe('receipts', () => {
  let whatsApp: WhatsAppSimulator;
  let service: TestService;
  let workspace: ConnectedWorkspace;
  let chat: Chat;

  beforeAll(async () => {
    whatsApp = await new WhatsAppSimulator().start();
    service = await TestService.create({
      role: 'all',
      env: { META_GRAPH_URL: whatsApp.url, PUBLIC_URL: 'https://messaging.example.com' },
    });
    workspace = await ConnectedWorkspace.whatsApp(service);
  });
  beforeEach(async () => (chat = await workspace.chat()));
  afterEach(() => whatsApp.recover());

  async function apply(event: object, of = workspace): Promise<void> {
    const connection = await service.app.get(ConnectionLoader).load(of.workspace.id, of.connection.id);
    const whole = { accountId: of.connection.externalId, ...event } as
      | InboundReceipt
      | InboundWatermark
      | InboundEcho;
    const receipts = service.app.get(ReceiptsService);
    if (whole.kind === 'receipt') await receipts.applyReceipts(connection!, [whole]);
    else await receipts.apply(connection!, whole);
  }

  const receipt = (providerId: string, status: string, more: object = {}) =>
    apply({ kind: 'receipt', providerId, messageId: null, status, fault: null, ...more });

  const echo = (providerId: string, more: object = {}) =>
    apply({ kind: 'echo', customerId: chat.customerId, providerId, messageId: null, body: null, ...more });

  async function sent(body = 'On its way.'): Promise<{ message: MessageResponse; providerId: string }> {
    const message = await chat.send(body);
    await waitForStatus(service, message, 'SENT');
    return { message, providerId: whatsApp.sent.at(-1)!.id };
  }

  /** Sends a message and loses the provider's answer, so that the message becomes UNKNOWN. */
  async function unknown(body = 'Who knows?'): Promise<MessageResponse> {
    whatsApp.troubleNext({ kind: 'reset' });
    const message = await chat.send(body);
    await waitForStatus(service, message, 'UNKNOWN');
    return message;
  }

  const requested = () => whatsApp.sendsTo(chat.customerId).map(({ body }) => body.text.body);
  const statusOf = async (message: MessageResponse) => (await deliveryOf(service, message)).status;

  it('advance a message in any order, and never back', async () => {
    const { message, providerId } = await sent();
    await receipt(providerId, 'DELIVERED');
    expect(await statusOf(message)).toBe('DELIVERED');
    await receipt(providerId, 'READ');
    for (const late of ['DELIVERED', 'SENT', 'FAILED']) await receipt(providerId, late);
    expect(await deliveryOf(service, message)).toEqual({ status: 'READ', error: null });
  });

  it('report a refusal after the answer', async () => {
    const { message, providerId } = await sent();
    const fault = { kind: 'WINDOW', providerCode: '131047', message: 'Re-engagement\0 message' };
    await receipt(providerId, 'FAILED', { fault });
    expect(await deliveryOf(service, message)).toEqual({
      status: 'FAILED',
      error: { code: 'WINDOW_CLOSED', providerCode: '131047', message: 'Re-engagement\uFFFD message' },
    });
  });

  it('apply when they come before the answer to the request', async () => {
    whatsApp.troubleNext({ kind: 'slow', ms: 500 });
    const message = await chat.send('quick');
    await waitFor('the call', () => requested().length === 1);
    const { id: providerId } = whatsApp.sent.at(-1)!;
    await receipt(providerId, 'READ');
    await receipt(providerId, 'DELIVERED');
    expect(await statusOf(message)).toBe('SENDING');

    await waitForStatus(service, message, 'READ');
    expect(await service.query('SELECT FROM early_receipts WHERE provider_id = $1', [providerId])).toEqual(
      [],
    );
  });

  it('are not lost when they come at the same time as the answer', async () => {
    const messages: MessageResponse[] = [];
    for (let n = 0; n < 20; n++) {
      const message = await chat.send(`${n}`);
      messages.push(message);
      await waitFor('the call', () => requested().length > n);
      await receipt(whatsApp.sent.at(-1)!.id, 'DELIVERED');
    }
    for (const message of messages) await waitForStatus(service, message, 'DELIVERED');
  });

  it('settle a message whose answer was lost, and release the next one', async () => {
    const message = await unknown();
    const next = await chat.send('the next');
    await waitFor('the next one to be routed', async () => {
      const rows = await service.query('SELECT FROM outbound_messages WHERE message_id = $1', [next.id]);
      return rows.length === 1;
    });
    expect(requested()).toEqual(['Who knows?']);

    await receipt(whatsApp.sent.at(-1)!.id, 'DELIVERED', { messageId: message.id });

    await waitForStatus(service, next, 'SENT');
    expect(await deliveryOf(service, message)).toEqual({ status: 'DELIVERED', error: null });
    expect(requested()).toEqual(['Who knows?', 'the next']);
    // The receipt has recorded the provider's id.
    await receipt(whatsApp.sent.at(-2)!.id, 'READ');
    expect(await statusOf(message)).toBe('READ');
  });

  it('hold the conversation only until the hold expires', async () => {
    const message = await unknown();
    const next = await chat.send('the next');
    await service.query(
      'UPDATE outbound_messages SET next_attempt_at = now() WHERE holds AND message_id = $1',
      [message.id],
    );
    await waitForStatus(service, next, 'SENT');
    expect(await statusOf(message)).toBe('UNKNOWN');
    expect(requested()).toEqual(['Who knows?', 'the next']);
  });

  it('that are missing keep the next one back, also when a late outcome says no more', async () => {
    const { connection } = workspace;
    const redis = new Redis(service.stores.redisUrl);
    await redis.set(`throughput:${connection.id}`, 1_000, 'EX', 3);
    redis.disconnect();
    const message = await chat.send('Late.');
    const row = () =>
      service.query('SELECT holds, lease_id IS NULL AS free FROM outbound_messages WHERE message_id = $1', [
        message.id,
      ]);
    await waitFor('the routing', async () => (await row()).length === 1);
    const loaded = await service.app.get(ConnectionLoader).load(workspace.workspace.id, connection.id);
    const [claimed] = await service.app.get(OutboundMessagesRepository).claim(loaded!, 1);
    await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE message_id = $1', [
      message.id,
    ]);
    await waitForStatus(service, message, 'UNKNOWN');
    const fault = { providerCode: null, message: 'No answer' };
    await service.app.get(OutboundMessageAttempter).record(claimed!, { kind: 'UNKNOWN', fault });

    expect(await row()).toEqual([{ holds: true, free: true }]);
  });

  it('change nothing in another workspace, whatever id they have', async () => {
    const message = await unknown();
    const stranger = await ConnectedWorkspace.whatsApp(service);
    const of = (messageId: string) =>
      apply(
        { kind: 'receipt', providerId: `x-${newId()}`, messageId, status: 'READ', fault: null },
        stranger,
      );
    for (const id of [message.id, 'not an id', `${message.id}'`, newId()]) await of(id);
    await apply(
      {
        kind: 'echo',
        customerId: chat.customerId,
        providerId: 'x',
        messageId: message.id,
        body: message.body,
      },
      stranger,
    );
    expect(await statusOf(message)).toBe('UNKNOWN');
  });

  it('are ignored when their id can’t be stored', async () => {
    for (const providerId of ['a\0b', '\ud800', 'x'.repeat(5_000)]) {
      await receipt(providerId, 'READ');
      await echo(providerId);
      await echo('wamid.known', { customerId: providerId, body: 'On its way.' });
    }
    expect(
      await service.query(`SELECT FROM early_receipts WHERE status = 'READ' AND provider_id LIKE 'xx%'`),
    ).toEqual([]);
  });

  describe('as a watermark', () => {
    const watermark = (status: string, until: Date, customerId = chat.customerId) =>
      apply({ kind: 'watermark', customerId, status, until });

    it('are ignored when their time is invalid', async () => {
      const { message } = await sent();
      for (const ms of [-8.64e15, 0, NaN]) await watermark('READ', new Date(ms));
      expect(await statusOf(message)).toBe('SENT');
    });

    it('advance what was sent to that customer until then', async () => {
      const [first, second] = [await sent('first'), await sent('second')];
      const [{ until }] = (await service.query<{ until: Date }>(
        'SELECT sent_at AS until FROM provider_messages WHERE provider_id = $1',
        [second.providerId],
      )) as [{ until: Date }];
      const third = await sent('third');

      await watermark('READ', until, '10000');
      expect(await statusOf(first.message)).toBe('SENT');
      await watermark('DELIVERED', new Date(until.getTime() + 1));
      expect(await statusOf(first.message)).toBe('DELIVERED');
      expect(await statusOf(second.message)).toBe('DELIVERED');
      expect(await statusOf(third.message)).toBe('SENT');
      await watermark('READ', new Date());
      await watermark('DELIVERED', new Date());
      for (const { message } of [first, second, third]) expect(await statusOf(message)).toBe('READ');
    });

    it('leave a refused message FAILED', async () => {
      const { message, providerId } = await sent();
      await receipt(providerId, 'FAILED', { fault: { kind: 'TERMINAL', providerCode: '1', message: 'No.' } });
      await watermark('READ', new Date());
      expect(await statusOf(message)).toBe('FAILED');
    });
  });

  describe('as an echo', () => {
    it('settle a message whose answer was lost, by our own id', async () => {
      const message = await unknown();
      await echo('m_1', { messageId: message.id });
      expect(await deliveryOf(service, message)).toEqual({ status: 'SENT', error: null });
    });

    it('settle it by its text, when the provider does not return our id', async () => {
      const message = await unknown('  Just this.\n');
      await echo('m_2', { body: 'Something else.' });
      expect(await statusOf(message)).toBe('UNKNOWN');
      await echo('m_3', { body: 'Just this.' });
      expect(await deliveryOf(service, message)).toEqual({ status: 'SENT', error: null });
      await receipt('m_3', 'DELIVERED');
      expect(await statusOf(message)).toBe('DELIVERED');
    });

    describe("of an answer from the provider's own inbox", () => {
      const waitingSince = async () => {
        const { id } = chat.conversation;
        return (await service.app.get(ConversationsService).get(workspace.workspace.id, id, SYSTEM))
          .waitingSince;
      };
      const writtenAt = async () =>
        (await service.make.received(workspace.workspace, chat.conversation)).createdAt;

      it('end the waiting of its customer', async () => {
        await writtenAt();
        await echo('m_inbox', { body: 'From the inbox.', at: new Date() });
        expect(await waitingSince()).toBeNull();
      });

      it('end it without a time too', async () => {
        await writtenAt();
        await echo('m_inbox_2', { body: null, at: null });
        expect(await waitingSince()).toBeNull();
      });

      it('leave a customer waiting who wrote after it, or is another one', async () => {
        const since = await writtenAt();
        await echo('m_inbox_3', { body: 'Late.', at: new Date(since.getTime() - 1) });
        await echo('m_inbox_4', { customerId: 'another', body: 'For another.', at: new Date() });
        expect(await waitingSince()).toEqual(since);
      });
    });

    it('settle it although a later message with the same text is in flight', async () => {
      const lost = await unknown('Twice.');
      await service.query(
        'UPDATE outbound_messages SET next_attempt_at = now() WHERE holds AND message_id = $1',
        [lost.id],
      );
      whatsApp.troubleNext({ kind: 'slow', ms: 1_000 });
      const later = await chat.send('Twice.');
      await waitFor('the call', () => requested().length === 2);
      await echo('m_4', { body: 'Twice.' });
      expect(await statusOf(lost)).toBe('SENT');
      await waitForStatus(service, later, 'SENT');
    });

    it('do not settle a message that waits for a retry', async () => {
      whatsApp.troubleNext(MetaSimulator.refusal(131_056, 'Too many messages to one customer'));
      const message = await chat.send('Refused.');
      await waitFor('the refusal', async () => {
        const rows = await service.query(
          'SELECT FROM outbound_messages WHERE message_id = $1 AND attempt_count = 1',
          [message.id],
        );
        return rows.length === 1;
      });
      await echo('m_5', { body: 'Refused.' });
      expect(await statusOf(message)).toBe('SENDING');
    });

    it('do not settle another message by the text of a sent one', async () => {
      const { message, providerId } = await sent('The same.');
      const lost = await unknown('The same.');
      await echo(providerId, { body: 'The same.' });
      expect(await statusOf(message)).toBe('SENT');
      expect(await statusOf(lost)).toBe('UNKNOWN');
    });
  });
});
