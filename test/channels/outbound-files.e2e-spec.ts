import { SYSTEM } from '../../src/access/principal';
import { newId } from '../../src/common/ids';
import { MessagesService } from '../../src/messages/messages.service';
import { ChannelWorkspace, SentMessage } from '../support/channel-workspace';
import { completeErasure, erasuresOf } from '../support/erasures';
import { JPEG, PDF, PNG, uploadTo } from '../support/files';
import { newAccountId, newCustomerId } from '../support/messaging-channel';
import { TestService } from '../support/service';
import { InstagramSimulator } from '../support/simulators/instagram';
import { MessengerSimulator } from '../support/simulators/messenger';
import { MetaSimulator } from '../support/simulators/meta-simulator';
import { TelegramSimulator } from '../support/simulators/telegram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

const PHONE_NUMBER_ID = '106540352242922';
const APP_SECRET = '0123456789abcdef0123456789abcdef';

describe('a message with files', () => {
  let service: TestService;
  let telegram: TelegramSimulator;
  let whatsApp: WhatsAppSimulator;
  let messenger: MessengerSimulator;
  let instagram: InstagramSimulator;
  let bots = 9_100_000;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    whatsApp = await new WhatsAppSimulator().start();
    messenger = await new MessengerSimulator().start();
    instagram = await new InstagramSimulator().start();
    const env = {
      ...telegram.environment,
      META_GRAPH_URL: whatsApp.url,
      INSTAGRAM_GRAPH_URL: instagram.url,
    };
    service = await TestService.create({ role: 'all', env });
    for (const provider of [telegram, whatsApp, messenger, instagram]) provider.hookOrigin = service.baseUrl;
  });
  afterEach(() => [telegram, whatsApp, messenger, instagram].forEach((provider) => provider.recover()));

  const send = async (shop: ChannelWorkspace, id: string, message: object) => {
    const answer = await shop.tenant.client.post(`/conversations/${id}/messages`, message);
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return { id: answer.body.message.id as string, conversationId: id };
  };
  const repeat = async ({ workspace }: ChannelWorkspace, lost: SentMessage, body: string) => {
    const agent = await service.make.agent(workspace);
    const input = { body, repeatsId: lost.id };
    const messages = service.app.get(MessagesService);
    const actor = { type: 'agent', ...agent } as const;
    const { message } = await messages.send(workspace.id, lost.conversationId, input, actor);
    return { id: message.id, conversationId: lost.conversationId };
  };
  const statusesOf = ({ id }: { id: string }) =>
    service
      .query<{ content: string; status: string }>(
        'SELECT content, status FROM message_parts WHERE message_id = $1 ORDER BY position',
        [id],
      )
      .then((parts) => parts.map(({ content, status }) => `${content} ${status}`));

  /** Returns what the API says of each file of a message. */
  const deliveriesOf = async ({ tenant }: ChannelWorkspace, { id, conversationId }: SentMessage) => {
    const { body } = await tenant.client.get(`/conversations/${conversationId}/messages`);
    const message = body.data.find((one: { id: string }) => one.id === id);
    return message.attachments.map(({ delivery }: { delivery: object | null }) => delivery);
  };

  describe('over Telegram', () => {
    async function chat() {
      const token = TelegramSimulator.token(++bots);
      const shop = await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken: token });
      const chatId = bots + 1_000_000;
      await telegram.write(token, chatId, 'Do you have a picture?');
      const { id } = await shop.conversationWith(String(chatId));
      return { shop, chatId, id, sentTo: () => telegram.sent.filter((sent) => sent.chatId === chatId) };
    }

    it('arrives file by file, the text with the first', async () => {
      const { shop, id, sentTo } = await chat();
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.png', PNG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      const message = await send(shop, id, {
        body: 'Here they are.',
        attachments: [{ uploadId: uploads[0] }, { uploadId: uploads[1], caption: 'The price list' }],
      });
      expect(await shop.delivered(message, 'SENT')).toEqual({ status: 'SENT', error: null });
      expect(sentTo().map(({ text, file }) => [file?.method, file?.name, file?.size, text])).toEqual([
        ['sendPhoto', 'a.png', PNG.length, 'Here they are.'],
        ['sendDocument', 'b.pdf', PDF.length, 'The price list'],
      ]);
      expect(await statusesOf(message)).toEqual(['FILE_WITH_BODY SENT', 'FILE_WITH_CAPTION SENT']);
    });

    it('has no text if it has files alone', async () => {
      const { shop, id, sentTo } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.png', PNG);
      await shop.delivered(await send(shop, id, { attachments: [{ uploadId }] }), 'SENT');
      expect(sentTo().map(({ text, file }) => [file?.method, text])).toEqual([['sendPhoto', '']]);
    });

    it('has a text that is too long for a caption as a message before the file', async () => {
      const { shop, id, sentTo } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.png', PNG);
      const body = 'x'.repeat(1025);
      await shop.delivered(await send(shop, id, { body, attachments: [{ uploadId }] }), 'SENT');
      expect(sentTo().map(({ text, file }) => [file?.method, text])).toEqual([
        [undefined, body],
        ['sendPhoto', ''],
      ]);
    });

    it('fails if one file is refused, sends the others, and repeats the failed one alone', async () => {
      const { shop, id, sentTo, chatId } = await chat();
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.png', PNG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      telegram.troubleNext(TelegramSimulator.refusal(400, 'Bad Request: IMAGE_PROCESS_FAILED'));
      const message = await send(shop, id, {
        body: 'Both.',
        attachments: uploads.map((uploadId) => ({ uploadId })),
      });
      const { error } = await shop.delivered(message, 'FAILED');
      expect(error).toMatchObject({ code: 'REFUSED', message: 'Bad Request: IMAGE_PROCESS_FAILED' });
      expect(await statusesOf(message)).toEqual(['FILE_WITH_BODY FAILED', 'FILE SENT']);
      const [failed, sent] = await deliveriesOf(shop, message);
      expect(failed).toEqual({ status: 'FAILED', error });
      expect(sent).toEqual({ status: 'SENT', error: null });
      const again = await repeat(shop, message, 'Both.');
      await shop.delivered(again, 'SENT');
      expect(sentTo().map(({ text, file }) => [file?.name, text])).toEqual([
        ['b.pdf', ''],
        ['a.png', 'Both.'],
      ]);
      expect(telegram.sendsTo(chatId)).toHaveLength(3);
    });

    it('does not send a file again whose answer was lost, and sends the next', async () => {
      const { shop, id, sentTo } = await chat();
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.png', PNG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      telegram.troubleNext({ kind: 'reset' });
      const message = await send(shop, id, { attachments: uploads.map((uploadId) => ({ uploadId })) });
      await shop.delivered(message, 'UNKNOWN');
      expect(await statusesOf(message)).toEqual(['FILE UNKNOWN', 'FILE SENT']);
      expect(sentTo().map(({ file }) => file?.name)).toEqual(['a.png', 'b.pdf']);
    });

    it('is given up if each of eight workers was killed before it could send a file', async () => {
      const { shop, id, sentTo } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.png', PNG);
      telegram.troubleNext(TelegramSimulator.refusal(502, 'Bad Gateway'));
      const message = await send(shop, id, { attachments: [{ uploadId }] });
      await shop.waitForRetry(message);
      await service.query('UPDATE message_parts SET attempt_count = 7 WHERE message_id = $1', [message.id]);
      await service.query(
        'UPDATE outbound_messages SET lease_id = $2, next_attempt_at = now() WHERE message_id = $1',
        [message.id, newId()],
      );
      const { error } = await shop.delivered(message, 'FAILED', 15_000);
      expect(error.code).toBe('RETRIES_EXHAUSTED');
      expect(sentTo()).toEqual([]);
    });

    it('is tried again after 5xx, from the part that has failed', async () => {
      const { shop, id, sentTo } = await chat();
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.png', PNG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      const message = await send(shop, id, { attachments: uploads.map((uploadId) => ({ uploadId })) });
      await waitFor('the first file', () => sentTo().length === 1);
      telegram.troubleNext(TelegramSimulator.refusal(502, 'Bad Gateway'));
      await shop.delivered(message, 'SENT', 15_000);
      expect(sentTo().map(({ file }) => file?.name)).toEqual(['a.png', 'b.pdf']);
    });
  });

  describe('over WhatsApp', () => {
    let people = 16_505_550_000;

    async function chat() {
      const phoneNumberId = String(Number(PHONE_NUMBER_ID) + ++people);
      const credentials = { phoneNumberId, accessToken: `EAAG${people}`, appSecret: APP_SECRET };
      const shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
      const customer = String(people);
      const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
      const notify = (content: Parameters<WhatsAppSimulator['notification']>[1]) =>
        whatsApp.notify(hook, whatsApp.notification(phoneNumberId, content));
      await notify({ messages: [whatsApp.message(customer, 'Hi')] });
      const { id } = await shop.conversationWith(customer);
      return { shop, customer, id, notify, sentTo: () => whatsApp.sent.filter(({ to }) => to === customer) };
    }

    it('is uploaded once, and sums the receipts of its files', async () => {
      const { shop, id, notify, sentTo } = await chat();
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.jpg', JPEG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      whatsApp.media.refusesSecond = true;
      const message = await send(shop, id, {
        body: 'The bill',
        attachments: uploads.map((uploadId) => ({ uploadId })),
      });
      await shop.delivered(message, 'SENT');
      const [picture, bill] = sentTo();
      expect([picture?.file?.kind, picture?.text, bill?.file?.kind, bill?.file?.name]).toEqual([
        'image',
        'The bill',
        'document',
        'b.pdf',
      ]);
      await notify({ statuses: [whatsApp.status(picture!, 'read')] });
      expect((await shop.delivery(message)).status).toBe('SENT');
      await notify({ statuses: [whatsApp.status(bill!, 'delivered')] });
      await shop.delivered(message, 'DELIVERED');
      await notify({ statuses: [whatsApp.status(bill!, 'read')] });
      await shop.delivered(message, 'READ');
    });

    it('fails by a late status of one file', async () => {
      const { shop, id, notify, sentTo } = await chat();
      whatsApp.media.refusesSecond = false;
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.jpg', JPEG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      const message = await send(shop, id, { attachments: uploads.map((uploadId) => ({ uploadId })) });
      await shop.delivered(message, 'SENT');
      const failure = { code: 131053, title: 'Media upload error', message: 'Media upload error' };
      await notify({ statuses: [whatsApp.status(sentTo()[0]!, 'failed', failure)] });
      const { error } = await shop.delivered(message, 'FAILED');
      expect(error).toMatchObject({ code: 'REFUSED', providerCode: '131053' });
      expect(await statusesOf(message)).toEqual(['FILE FAILED', 'FILE SENT']);
    });

    it('is uploaded again if WhatsApp does not know its own id any more', async () => {
      const { shop, id, sentTo } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.jpg', JPEG);
      whatsApp.troubleNext(MetaSimulator.refusal(131000, 'Something went wrong', { status: 500 }));
      const message = await send(shop, id, { attachments: [{ uploadId }] });
      await shop.waitForRetry(message);
      whatsApp.media.expire();
      await shop.delivered(message, 'SENT', 15_000);
      expect(sentTo()).toHaveLength(1);
      expect(
        await service.query('SELECT reference FROM provider_files WHERE connection_id = $1', [
          shop.connection.id,
        ]),
      ).toHaveLength(1);
    });

    it('learns from a receipt what became of a file whose answer was lost', async () => {
      const { shop, id, notify, sentTo } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.jpg', JPEG);
      whatsApp.troubleNext({ kind: 'reset' });
      const message = await send(shop, id, { attachments: [{ uploadId }] });
      await shop.delivered(message, 'UNKNOWN');
      await notify({ statuses: [whatsApp.status(sentTo()[0]!, 'delivered')] });
      expect(await shop.delivered(message, 'DELIVERED')).toEqual({ status: 'DELIVERED', error: null });
      expect(sentTo()).toHaveLength(1);
    });

    it('leaves nothing at the service after the erasure of its customer', async () => {
      const { shop, id } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.jpg', JPEG);
      await shop.delivered(await send(shop, id, { attachments: [{ uploadId }] }), 'SENT');
      const counts = () =>
        service.query(
          `SELECT (SELECT count(*)::int FROM message_parts WHERE tenant_id = $1) AS parts,
                  (SELECT count(*)::int FROM provider_files WHERE tenant_id = $1) AS files`,
          [shop.workspace.id],
        );
      expect(await counts()).toEqual([{ parts: 1, files: 1 }]);
      const { body } = await shop.tenant.client.get(`/conversations/${id}`);
      const erasures = erasuresOf(service);
      const erasure = await erasures.start(shop.workspace.id, body.contact.id, SYSTEM);
      await completeErasure(service, shop.workspace.id, erasure);
      expect(await counts()).toEqual([{ parts: 0, files: 0 }]);
    });

    it('leaves nothing there if the provider answers after the erasure', async () => {
      const { shop, id, sentTo } = await chat();
      const uploadId = await uploadTo(shop.tenant, id, 'a.jpg', JPEG);
      whatsApp.troubleNext({ kind: 'slow', ms: 3_000 });
      const message = await send(shop, id, { attachments: [{ uploadId }] });
      await waitFor('the request', () => sentTo().length === 1);
      const { body } = await shop.tenant.client.get(`/conversations/${id}`);
      await erasuresOf(service).start(shop.workspace.id, body.contact.id, SYSTEM);
      const count = async (table: string) =>
        (await service.query(`SELECT FROM ${table} WHERE tenant_id = $1`, [shop.workspace.id])).length;
      await waitFor('the erasure', async () => (await count('message_parts')) === 0);
      expect(await count('outbound_messages')).toBe(1);
      await shop.delivered(message, 'SENT');
      expect(await count('provider_files')).toBe(0);
    });

    it('fails as a whole when the window is closed', async () => {
      const { shop, id, customer, sentTo } = await chat();
      const uploads = [
        await uploadTo(shop.tenant, id, 'a.jpg', JPEG),
        await uploadTo(shop.tenant, id, 'b.pdf', PDF),
      ];
      whatsApp.windowClosedFor.add(customer);
      const message = await send(shop, id, { attachments: uploads.map((uploadId) => ({ uploadId })) });
      expect((await shop.delivered(message, 'FAILED')).error.code).toBe('WINDOW_CLOSED');
      expect(await statusesOf(message)).toEqual(['FILE FAILED', 'FILE FAILED']);
      expect(sentTo()).toEqual([]);
    });
  });

  describe('over Instagram', () => {
    it('is fetched by a short-lived address, after its text', async () => {
      const accountId = newAccountId();
      const credentials = { accountId, accessToken: `IGAA${accountId}`, appSecret: APP_SECRET };
      const shop = await ChannelWorkspace.connect(service, 'INSTAGRAM', credentials);
      const customer = newCustomerId();
      const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
      await instagram.notify(hook, instagram.notification(instagram.message(accountId, customer, 'Hi')));
      const { id } = await shop.conversationWith(customer);
      const uploadId = await uploadTo(shop.tenant, id, 'a.jpg', JPEG);
      await shop.delivered(await send(shop, id, { body: 'The parcel', attachments: [{ uploadId }] }), 'SENT');
      const sent = instagram.sent.filter(({ customerId }) => customerId === customer);
      expect(sent.map(({ text, file }) => [text, file?.kind, file?.type, file?.size])).toEqual([
        ['The parcel', undefined, undefined, undefined],
        ['', 'image', 'image/jpeg', JPEG.length],
      ]);

      const second = await uploadTo(shop.tenant, id, 'b.jpg', JPEG);
      const caption = 'ü'.repeat(501);
      const refused = await shop.tenant.client.post(`/conversations/${id}/messages`, {
        attachments: [{ uploadId: second, caption }],
      });
      expect([refused.status, refused.body.error.details?.[0]?.field]).toEqual([
        400,
        'attachments[0].caption',
      ]);

      const { url } = instagram.sendsTo(customer).at(-1)!.body.message.attachment.payload;
      const { pathname } = new URL(url);
      const last = pathname.at(-1) === 'A' ? 'B' : 'A';
      const forged = await fetch(service.baseUrl + pathname.slice(0, -4) + last + pathname.slice(-3));
      expect(forged.status).toBe(404);
    });
  });
});

describe('a message with files over Messenger', () => {
  let service: TestService;
  const messenger = new MessengerSimulator();

  beforeAll(async () => {
    await messenger.start();
    service = await TestService.create({ role: 'all', env: { META_GRAPH_URL: messenger.url } });
    messenger.hookOrigin = service.baseUrl;
  });

  it('arrives after its text, and learns from an echo what became of a lost answer', async () => {
    const pageId = newAccountId();
    const credentials = { pageId, accessToken: `EAAM${pageId}`, appSecret: APP_SECRET };
    const shop = await ChannelWorkspace.connect(service, 'MESSENGER', credentials);
    const customer = newCustomerId();
    const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
    await messenger.notify(hook, messenger.notification(messenger.message(pageId, customer, 'Hi')));
    const { id } = await shop.conversationWith(customer);
    const uploadId = await uploadTo(shop.tenant, id, 'Rechnung Ü.pdf', PDF);
    const answer = await shop.tenant.client.post(`/conversations/${id}/messages`, {
      body: 'The bill',
      attachments: [{ uploadId }],
    });
    const message = { id: answer.body.message.id, conversationId: id };
    await shop.delivered(message, 'SENT');
    const [text, bill] = messenger.sent;
    expect([text?.text, bill?.text, bill?.file?.kind, bill?.file?.name]).toEqual([
      'The bill',
      '',
      'file',
      'Rechnung Ü.pdf',
    ]);

    const second = await uploadTo(shop.tenant, id, 'a.png', PNG);
    messenger.troubleNext({ kind: 'reset' });
    const next = await shop.tenant.client.post(`/conversations/${id}/messages`, {
      attachments: [{ uploadId: second }],
    });
    const lost = { id: next.body.message.id, conversationId: id };
    await shop.delivered(lost, 'UNKNOWN');
    await messenger.notify(hook, messenger.notification(messenger.echo(messenger.sent[2]!)));
    await shop.delivered(lost, 'SENT');
  });

  it('learns from an echo what became of its text, and no message with the same text does', async () => {
    const pageId = newAccountId();
    const credentials = { pageId, accessToken: `EAAM${pageId}`, appSecret: APP_SECRET };
    const shop = await ChannelWorkspace.connect(service, 'MESSENGER', credentials);
    const customer = newCustomerId();
    const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
    await messenger.notify(hook, messenger.notification(messenger.message(pageId, customer, 'Hi')));
    const { id } = await shop.conversationWith(customer);
    const uploadId = await uploadTo(shop.tenant, id, 'bill.pdf', PDF);
    const sentTo = () => messenger.sent.filter((sent) => sent.customerId === customer);

    messenger.troubleNext({ kind: 'reset' }, { kind: 'reset' });
    const lost = await shop.send({ id }, 'The bill');
    await shop.delivered(lost, 'UNKNOWN');
    const answer = await shop.tenant.client.post(`/conversations/${id}/messages`, {
      body: 'The bill',
      attachments: [{ uploadId }],
    });
    const message = { id: answer.body.message.id, conversationId: id };
    // Without an echo, the second message would wait for 30 s.
    await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE holds');
    await waitFor('the text of the second', () => sentTo().length === 2);
    const ofText = () =>
      service.query('SELECT status FROM message_parts WHERE message_id = $1 AND position = 0', [message.id]);
    await waitFor('its lost answer', async () => (await ofText())[0]?.status === 'UNKNOWN');
    await messenger.notify(hook, messenger.notification(messenger.echo(sentTo()[1]!)));
    await waitFor('the echo', async () => (await ofText())[0]?.status !== 'UNKNOWN');
    expect(await ofText()).toEqual([{ status: 'SENT' }]);
    expect((await shop.delivery(lost)).status).toBe('UNKNOWN');
  });
});
