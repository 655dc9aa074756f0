import { createHash } from 'node:crypto';
import { FileStore } from '../../src/attachments/store/file-store';
import { AttachmentRetriesService } from '../../src/channels/fetches/attachment-retries.service';
import { SYSTEM } from '../../src/access/principal';
import { ChannelWorkspace } from '../support/channel-workspace';
import { erasuresOf } from '../support/erasures';
import { eventsOf } from '../support/events';
import { MessagingChannel, newCustomerId } from '../support/messaging-channel';
import { TestService } from '../support/service';
import { InstagramSimulator } from '../support/simulators/instagram';
import { MessengerSimulator } from '../support/simulators/messenger';
import { TelegramSimulator } from '../support/simulators/telegram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

const JPEG = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
  'base64',
);
const MP3 = Buffer.concat([
  Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'),
  Buffer.from('fffb9064', 'hex'),
  Buffer.alloc(413),
]);
const PDF = Buffer.from('%PDF-1.4\n%âãÏÓ\n1 0 obj\n<<>>\nendobj\n');
const APP_SECRET = '0123456789abcdef0123456789abcdef';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes);

describe('files of customers', () => {
  let telegram: TelegramSimulator;
  let whatsapp: WhatsAppSimulator;
  let messenger: MessengerSimulator;
  let instagram: InstagramSimulator;
  let service: TestService;
  let next = 7_300_000;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    whatsapp = await new WhatsAppSimulator().start();
    messenger = await new MessengerSimulator().start();
    instagram = await new InstagramSimulator().start();
    service = await TestService.create({
      role: 'all',
      env: {
        ...telegram.environment,
        META_GRAPH_URL: whatsapp.url,
        INSTAGRAM_GRAPH_URL: instagram.url,
      },
    });
    for (const provider of [telegram, whatsapp, instagram]) provider.hookOrigin = service.baseUrl;
  });

  /** Returns the only message of a conversation, once its attachment is in one of the states. */
  const settled = (shop: { tenant: ChannelWorkspace['tenant'] }, id: string, ...states: string[]) =>
    waitFor(`an attachment to be ${states.join(' or ')}`, async () => {
      const [message] = await shop.tenant.client.all(`/conversations/${id}/messages`, 200);
      const [attachment] = message.attachments;
      return states.includes(attachment.state) && { message, attachment };
    });
  const bytesOf = async (shop: { tenant: ChannelWorkspace['tenant'] }, url: string) => {
    const headers = { authorization: `Bearer ${shop.tenant.key.key}` };
    return Buffer.from(await (await fetch(service.baseUrl + url, { headers })).arrayBuffer());
  };
  /** Returns all texts of the database in which a secret could be. */
  const storedTexts = async () =>
    JSON.stringify([
      await service.query('SELECT metadata, body FROM messages'),
      await service.query('SELECT * FROM attachments'),
      await service.query('SELECT data FROM events'),
      await service.query(
        `SELECT convert_from(reference_ciphertext, 'LATIN1') AS text FROM attachment_fetches`,
      ),
    ]);

  describe('on Telegram', () => {
    let token: string;
    let shop: ChannelWorkspace;

    beforeEach(async () => {
      token = TelegramSimulator.token(++next);
      shop = await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken: token });
    });

    const receive = async (message: object): Promise<string> => {
      const chatId = ++next;
      expect(await telegram.deliver(token, telegram.update(chatId, message as Record<string, unknown>))).toBe(
        200,
      );
      return (await shop.conversationWith(String(chatId))).id;
    };
    const handOut = (id: string, bytes: Buffer, more: object = {}) => {
      const path = `/file/bot${token}/documents/${id}`;
      telegram.customerFiles.set(id, path);
      telegram.handedOut.set(path, { bytes, type: 'application/octet-stream', ...more });
    };

    it('have the duration that Telegram names, if they play', async () => {
      handOut('song', MP3);
      const audio = { file_id: 'song', mime_type: 'audio/mpeg', duration: 12 };
      const song = await settled(shop, await receive({ audio }), 'READY');
      expect(song.attachment).toMatchObject({ kind: 'AUDIO', durationMs: 12_000, delivery: null });
      handOut('named-video', JPEG);
      const video = { file_id: 'named-video', mime_type: 'video/mp4', duration: 12 };
      const picture = await settled(shop, await receive({ video }), 'READY');
      expect(picture.attachment).toMatchObject({ kind: 'IMAGE', durationMs: null });
    });

    it('are fetched in the largest size, and announced', async () => {
      handOut('large', JPEG);
      const photo = [
        { file_id: 'small', width: 90, height: 60 },
        { file_id: 'large', width: 1280, height: 853, file_size: JPEG.length },
      ];
      const id = await receive({ photo, caption: 'The parcel' });
      const { message, attachment } = await settled(shop, id, 'READY');
      expect(message).toMatchObject({
        body: '[image] The parcel',
        isDescribed: true,
        senderType: 'CUSTOMER',
      });
      expect(attachment).toMatchObject({
        kind: 'IMAGE',
        contentType: 'image/jpeg',
        caption: 'The parcel',
        width: 1,
      });
      expect(await bytesOf(shop, attachment.url)).toEqual(JPEG);
      const events = await eventsOf(service, shop.workspace, 'attachment.updated');
      expect(events).toEqual([
        {
          conversationId: id,
          messageId: message.id,
          attachmentId: attachment.id,
          kind: 'IMAGE',
          state: 'READY',
        },
      ]);
      expect(await service.query('SELECT 1 FROM attachment_fetches WHERE id = $1', [attachment.id])).toEqual(
        [],
      );
      expect(await storedTexts()).not.toContain(token);
    });

    it('have the caption that their sender has edited, with the URLs of its links', async () => {
      handOut('photo', JPEG);
      const chatId = ++next;
      const linked = (caption: string) => ({
        caption,
        caption_entities: [{ type: 'text_link', offset: 0, length: 4, url: 'https://shop.example/1' }],
      });
      const photo = [{ file_id: 'photo', width: 90, height: 60 }];
      const { update_id, message } = telegram.update(chatId, { photo, ...linked('This parcel') });
      const deliver = async (update: object) => expect(await telegram.deliver(token, update)).toBe(200);
      await deliver({ update_id, message });
      const { id } = await shop.conversationWith(String(chatId));
      const shown = async () => (await settled(shop, id, 'READY')).message;
      const caption = 'This (https://shop.example/1) parcel';
      expect(await shown()).toMatchObject({ isDescribed: true, attachments: [{ caption }] });
      const edit = async (content: object, edit_date: number) => {
        const rest = { ...message, caption: undefined, caption_entities: undefined };
        await deliver({
          update_id: update_id + edit_date,
          edited_message: { ...rest, edit_date, ...content },
        });
        return shown();
      };
      expect(await edit(linked('Late parcel'), 20)).toMatchObject({
        body: '[image] Late (https://shop.example/1) parcel',
        isDescribed: true,
        attachments: [{ caption: 'Late (https://shop.example/1) parcel' }],
      });
      expect(await edit({ caption: 'An older edit' }, 10)).toMatchObject({
        attachments: [{ caption: 'Late (https://shop.example/1) parcel' }],
      });
      expect(await edit({}, 30)).toMatchObject({
        body: '[image]',
        isDescribed: true,
        attachments: [{ caption: null }],
      });
    });

    it('have the name that the sender gave', async () => {
      handOut('pdf', PDF);
      const id = await receive({
        document: { file_id: 'pdf', file_name: 'factura.pdf', mime_type: 'application/pdf' },
      });
      const { message, attachment } = await settled(shop, id, 'READY');
      expect(message.body).toBe('[document] factura.pdf');
      expect(attachment).toMatchObject({ kind: 'FILE', name: 'factura.pdf', contentType: 'application/pdf' });
    });

    it('that are too big for bots are named as such, with their message', async () => {
      telegram.customerFiles.set('big', 'too big');
      const id = await receive({ video: { file_id: 'big', file_size: 21_000_000 } });
      expect((await settled(shop, id, 'FAILED')).attachment).toMatchObject({ problem: 'TOO_BIG', url: null });
    });

    it('are fetched again after a connection that broke, and never shown in half', async () => {
      handOut('cut', Buffer.concat([PDF, Buffer.alloc(200_000, 'x')]), { isCut: true });
      const id = await receive({ document: { file_id: 'cut' } });
      await waitFor('a try', async () => {
        const [row] = await service.query<{ tries: number }>(
          'SELECT tries FROM attachment_fetches WHERE tenant_id = $1',
          [shop.workspace.id],
        );
        return row?.tries === 1 && telegram.calls.some(({ path }) => path.endsWith('/documents/cut'));
      });
      expect((await settled(shop, id, 'PENDING')).attachment).toMatchObject({ url: null });
      handOut('cut', PDF);
      await service.query('UPDATE attachment_fetches SET due_at = now() WHERE tenant_id = $1', [
        shop.workspace.id,
      ]);
      expect((await settled(shop, id, 'READY')).attachment.size).toBe(PDF.length);
    });

    it('are given up after many tries, and fetched once more on request', async () => {
      const id = await receive({ document: { file_id: 'late', file_name: 'a.pdf' } });
      const { attachment } = await settled(shop, id, 'PENDING');
      const again = () =>
        service.query('UPDATE attachment_fetches SET tries = 20, due_at = now() WHERE id = $1', [
          attachment.id,
        ]);
      await waitFor('a try', async () => {
        const rows = await service.query<{ tries: number }>(
          'SELECT tries FROM attachment_fetches WHERE id = $1',
          [attachment.id],
        );
        return rows[0]?.tries === 1;
      });
      await again();
      expect((await settled(shop, id, 'FAILED')).attachment.problem).toBe('EXHAUSTED');
      handOut('late', PDF);
      const answer = await shop.tenant.client.post(`/attachments/${attachment.id}/retry`, undefined);
      expect([answer.status, answer.body.state]).toEqual([200, 'PENDING']);
      await settled(shop, id, 'READY');
    });

    it('of an erased person are fetched no more, and their bytes are gone', async () => {
      handOut('kept', JPEG);
      const id = await receive({ photo: [{ file_id: 'kept', width: 9, height: 9 }] });
      const { attachment } = await settled(shop, id, 'READY');
      const waiting = await receive({ document: { file_id: 'unknown' } });
      await settled(shop, waiting, 'PENDING');
      const [file] = await service.query<{ fileId: string }>(
        'SELECT file_id AS "fileId" FROM attachments WHERE id = $1',
        [attachment.id],
      );
      const { fileId } = file!;
      const store = service.app.get(FileStore, { strict: false });
      const tenantId = shop.workspace.id;
      expect(await store.size({ tenantId, fileId })).toBe(JPEG.length);
      for (const conversation of [id, waiting]) {
        const { contact } = (await shop.tenant.client.get(`/conversations/${conversation}`)).body;
        await erasuresOf(service).start(tenantId, contact.id, SYSTEM);
      }
      const left = () =>
        service.query(
          `SELECT id FROM attachments WHERE tenant_id = $1 UNION ALL SELECT id FROM attachment_fetches WHERE tenant_id = $1
           UNION ALL SELECT id FROM files WHERE tenant_id = $1`,
          [tenantId],
        );
      await waitFor('all rows to go', async () => (await left()).length === 0);
      expect(await store.size({ tenantId, fileId })).toBeNull();
    });
  });

  describe('on WhatsApp', () => {
    let shop: ChannelWorkspace;
    let phoneNumberId: string;
    const accessToken = 'EAAGsimulatedToken';

    beforeEach(async () => {
      phoneNumberId = String(++next);
      const credentials = { phoneNumberId, accessToken, appSecret: APP_SECRET };
      shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
    });

    const receive = async (message: object): Promise<string> => {
      const customer = String(16_505_000_000 + ++next);
      const messages = [whatsapp.message(customer, '', { text: undefined, ...message })];
      const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
      expect(await whatsapp.notify(hook, whatsapp.notification(phoneNumberId, { messages }))).toBe(200);
      return (await shop.conversationWith(customer)).id;
    };
    const handOut = (bytes: Buffer, more: object = {}): string => {
      const id = String(8_800_000_000_000 + ++next);
      whatsapp.handedOut.set(`/media/${id}`, { bytes, type: 'image/jpeg', ...more });
      whatsapp.customerMedia.set(id, {
        url: `${whatsapp.url}/media/${id}?ext=1&hash=secret`,
        mime_type: 'image/jpeg',
        id,
      });
      return id;
    };
    const tries = (id: string) => whatsapp.calls.filter(({ path }) => path === `/media/${id}`);

    it('are fetched with the token, and compared with their hash', async () => {
      const media = handOut(JPEG);
      const hash = sha256(JPEG).digest('base64');
      const url = 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1&hash=signed';
      const image = { id: media, mime_type: 'image/jpeg', sha256: hash, caption: 'Broken', url };
      const id = await receive({ type: 'image', image });
      const { attachment } = await settled(shop, id, 'READY');
      expect(attachment).toMatchObject({
        kind: 'IMAGE',
        caption: 'Broken',
        sha256: sha256(JPEG).digest('hex'),
      });
      expect(tries(media)[0]!.headers.authorization).toBe(`Bearer ${accessToken}`);
      expect(await storedTexts()).not.toContain('hash=s');
    });

    it('with another hash are not shown', async () => {
      const media = handOut(JPEG);
      const image = { id: media, mime_type: 'image/jpeg', sha256: sha256(PDF).digest('base64') };
      const id = await receive({ type: 'image', image });
      await waitFor('a try', () => Promise.resolve(tries(media).length > 0));
      expect((await settled(shop, id, 'PENDING')).attachment.url).toBeNull();
    });

    it('whose id has expired are gone', async () => {
      const id = await receive({ type: 'document', document: { id: '1', filename: 'a.pdf' } });
      const { attachment } = await settled(shop, id, 'FAILED');
      expect(attachment).toMatchObject({ problem: 'GONE', name: 'a.pdf' });
      const answer = await shop.tenant.client.post(`/attachments/${attachment.id}/retry`, undefined);
      expect([answer.status, answer.body.error.reason]).toEqual([409, 'file_gone']);
    });

    it('that are not found twice need new credentials', async () => {
      const media = handOut(JPEG, { status: 404 });
      const id = await receive({ type: 'image', image: { id: media } });
      expect((await settled(shop, id, 'FAILED')).attachment.problem).toBe('REAUTH');
      expect(tries(media)).toHaveLength(2);
    });

    it('are not fetched from a host that is not the provider’s', async () => {
      const media = String(8_800_000_000_000 + ++next);
      whatsapp.customerMedia.set(media, { url: 'https://169.254.169.254/latest/meta-data', id: media });
      const id = await receive({ type: 'image', image: { id: media } });
      expect((await settled(shop, id, 'FAILED')).attachment).toMatchObject({
        problem: 'FORBIDDEN',
        url: null,
      });
    });

    it('over 100 MB are named as such', async () => {
      const errors = [{ code: 131052, title: 'Media download error' }];
      const id = await receive({ type: 'unsupported', errors });
      expect((await settled(shop, id, 'FAILED')).attachment).toMatchObject({
        kind: 'FILE',
        problem: 'TOO_BIG',
        url: null,
      });
    });
  });

  describe('on Messenger', () => {
    it('are each an attachment of its own, with their text as a caption', async () => {
      const own = await TestService.create({ role: 'all', env: { META_GRAPH_URL: messenger.url } });
      messenger.hookOrigin = own.baseUrl;
      const page = await MessagingChannel.connect(own, messenger, 'MESSENGER');
      const customer = newCustomerId();
      messenger.handedOut.set('/v/1.jpg', { bytes: JPEG, type: 'image/jpeg' });
      messenger.handedOut.set('/v/2.pdf', { bytes: PDF, type: 'application/pdf', status: 403 });
      const attachments = [
        { type: 'image', payload: { url: `${messenger.url}/v/1.jpg?oh=signed` } },
        { type: 'file', payload: { url: `${messenger.url}/v/2.pdf?oh=signed` } },
      ];
      const event = messenger.message(page.accountId, customer, 'Look', { attachments });
      expect(await messenger.notify(page.hook, messenger.notification(event))).toBe(200);
      const rows = await waitFor('both', async () => {
        const found = await own.query<any>(
          'SELECT kind, state, problem, caption FROM attachments ORDER BY position',
        );
        return found.every(({ state }) => state !== 'PENDING') && found;
      });
      expect(rows).toEqual([
        { kind: 'IMAGE', state: 'READY', problem: null, caption: 'Look' },
        { kind: 'FILE', state: 'FAILED', problem: 'GONE', caption: null },
      ]);
      const [message] = await own.query<any>('SELECT body, is_described, metadata FROM messages');
      expect([message.body, message.is_described]).toEqual(['Look\n[image]\n[file]', true]);
      expect(JSON.stringify(message.metadata)).not.toContain('oh=signed');
    });

    it('leave the body shown that says more than they do', async () => {
      const own = await TestService.create({ role: 'all', env: { META_GRAPH_URL: messenger.url } });
      messenger.hookOrigin = own.baseUrl;
      const page = await MessagingChannel.connect(own, messenger, 'MESSENGER');
      messenger.handedOut.set('/v/3.jpg', { bytes: JPEG, type: 'image/jpeg' });
      const attachments = [
        { type: 'image', payload: { url: `${messenger.url}/v/3.jpg?oh=signed` } },
        { type: 'location', payload: { coordinates: { lat: 52.5, long: 13.4 } } },
      ];
      const event = messenger.message(page.accountId, newCustomerId(), 'Here', { attachments });
      expect(await messenger.notify(page.hook, messenger.notification(event))).toBe(200);
      const [message] = await waitFor('the message', async () => {
        const found = await own.query<any>('SELECT body, is_described FROM messages');
        return found.length > 0 && found;
      });
      expect([message.body, message.is_described]).toEqual([expect.stringContaining('[location]'), false]);
    });
  });

  describe('that are taken back', () => {
    it('are gone with their bytes and their fetches', async () => {
      const own = await TestService.create({ role: 'all', env: { META_GRAPH_URL: messenger.url } });
      messenger.hookOrigin = own.baseUrl;
      const page = await MessagingChannel.connect(own, messenger, 'MESSENGER');
      messenger.handedOut.set('/v/3.jpg', { bytes: JPEG, type: 'image/jpeg' });
      messenger.handedOut.set('/v/4.jpg', { bytes: JPEG, type: 'image/jpeg', status: 503 });
      const attachments = ['3', '4'].map((name) => ({
        type: 'image',
        payload: { url: `${messenger.url}/v/${name}.jpg` },
      }));
      const event = messenger.message(page.accountId, newCustomerId(), 'Look', { attachments });
      expect(await messenger.notify(page.hook, messenger.notification(event))).toBe(200);
      const [file] = await waitFor('the first file', async () => {
        const found = await own.query<any>('SELECT tenant_id AS "tenantId", id AS "fileId" FROM files');
        const states = await own.query<any>('SELECT state FROM attachments ORDER BY position');
        return states[0]?.state === 'READY' && states[1]?.state === 'PENDING' && found;
      });
      const store = own.app.get(FileStore, { strict: false });
      expect(await store.size(file)).toBe(JPEG.length);
      const { mid } = (event as any).message;
      const unsent = { ...event, message: { mid, is_deleted: true } };
      expect(await messenger.notify(page.hook, messenger.notification(unsent))).toBe(200);
      const left = () =>
        own.query(
          'SELECT id FROM attachments UNION ALL SELECT id FROM attachment_fetches UNION ALL SELECT id FROM files',
        );
      await waitFor('all rows to go', async () => (await left()).length === 0);
      expect(await store.size(file)).toBeNull();
      expect(await own.query('SELECT body, metadata, attachment_count FROM messages')).toEqual([
        { body: '', metadata: null, attachment_count: 0 },
      ]);
    });
  });

  describe('on Instagram', () => {
    it('stay there, unless the operator has them copied', async () => {
      const account = await MessagingChannel.connect(service, instagram, 'INSTAGRAM');
      const customer = newCustomerId();
      instagram.handedOut.set('/v/1.jpg', { bytes: JPEG, type: 'image/jpeg' });
      const attachments = [{ type: 'image', payload: { url: `${instagram.url}/v/1.jpg` } }];
      const event = instagram.message(account.accountId, customer, '', { text: undefined, attachments });
      expect(await instagram.notify(account.hook, instagram.notification(event))).toBe(200);
      const [row] = await service.query<any>(
        `SELECT tenant_id, id, state FROM attachments WHERE state = 'LINK_ONLY'`,
      );
      expect(row.state).toBe('LINK_ONLY');
      const retried = service.app
        .get(AttachmentRetriesService, { strict: false })
        .retry(row.tenant_id, row.id, SYSTEM);
      await expect(retried).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(instagram.calls.filter(({ path }) => path === '/v/1.jpg')).toEqual([]);
    });
  });
});
