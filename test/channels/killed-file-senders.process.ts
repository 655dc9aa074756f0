import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChannelWorkspace, SentMessage } from '../support/channel-workspace';
import { PDF, uploadTo } from '../support/files';
import { itOnLinux } from '../support/left-out';
import { TestService } from '../support/service';
import { ProcessUsage } from '../support/process-usage';
import { ServiceProcess } from '../support/service-process';
import { TelegramSimulator } from '../support/simulators/telegram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

/** A document that is larger than the buffers of a socket. */
const large = (mebibytes: number) => Buffer.concat([PDF, Buffer.alloc(mebibytes * 1024 * 1024, ' ')]);

describe('of a message with files', () => {
  let telegram: TelegramSimulator;
  let whatsApp: WhatsAppSimulator;
  let service: TestService;
  let env: Record<string, string>;
  let bots = 9_200_000;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    whatsApp = await new WhatsAppSimulator().start();
    env = {
      ...telegram.environment,
      META_GRAPH_URL: whatsApp.url,
      FILE_STORE_DIRECTORY: mkdtempSync(join(tmpdir(), 'files-')),
    };
    service = await TestService.create({ env });
    telegram.hookOrigin = whatsApp.hookOrigin = service.baseUrl;
  });
  afterEach(() => {
    for (const provider of [telegram, whatsApp]) {
      provider.recover();
      provider.pauseInUploads = null;
    }
  });

  const startWorker = () => ServiceProcess.start('worker', service.stores, env);
  /** Ends the leases of a killed worker, whose time would pass by itself. */
  const endLeases = () =>
    service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
  const partsOf = async ({ id }: SentMessage) => {
    const parts = await service.query<{ status: string }>(
      'SELECT status FROM message_parts WHERE message_id = $1 ORDER BY position',
      [id],
    );
    return parts.map(({ status }) => status);
  };
  const send = async (shop: ChannelWorkspace, id: string, files: [string, Buffer][]) => {
    const attachments: { uploadId: string }[] = [];
    for (const [name, content] of files)
      attachments.push({ uploadId: await uploadTo(shop.tenant, id, name, content) });
    const { body } = await shop.tenant.client.post(`/conversations/${id}/messages`, { attachments });
    return { id: body.message.id as string, conversationId: id };
  };

  async function chatOnTelegram() {
    const token = TelegramSimulator.token(++bots);
    const shop = await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken: token });
    await telegram.write(token, bots, 'Hi');
    const { id } = await shop.conversationWith(String(bots));
    const chatId = bots;
    const names = () => telegram.sent.filter((sent) => sent.chatId === chatId).map(({ file }) => file?.name);
    return { shop, id, names };
  }

  async function chatOnWhatsApp() {
    const [phoneNumberId, customer] = [String(++bots), String(16_505_000_000 + bots)];
    const credentials = { phoneNumberId, accessToken: 'EAAG', appSecret: 'app-secret' };
    const shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
    const hook = { url: shop.connection.hookUrl, appSecret: 'app-secret' };
    const messages = [whatsApp.message(customer, 'Hi')];
    await whatsApp.notify(hook, whatsApp.notification(phoneNumberId, { messages }));
    const { id } = await shop.conversationWith(customer);
    const names = () => whatsApp.sent.filter(({ to }) => to === customer).map(({ file }) => file?.name);
    return { shop, id, names };
  }

  it.each([
    { channel: 'Telegram', chat: chatOnTelegram, provider: () => telegram },
    { channel: 'WhatsApp', chat: chatOnWhatsApp, provider: () => whatsApp },
  ])('a worker killed amid an upload to $channel has sent nothing, so another sends it', async (given) => {
    const provider = given.provider();
    const { shop, id, names } = await given.chat();
    const message = await send(shop, id, [
      ['a.pdf', large(8)],
      ['b.pdf', PDF],
    ]);
    provider.pauseInUploads = Infinity;
    const { uploadsBegun } = provider;
    const worker = await startWorker();
    await waitFor('the upload', () => provider.uploadsBegun > uploadsBegun);
    expect(await partsOf(message)).toEqual(['QUEUED', 'QUEUED']);
    await worker.end('SIGKILL');
    provider.pauseInUploads = null;
    await endLeases();
    const next = await startWorker();
    await shop.delivered(message, 'SENT', 20_000);
    expect(names()).toEqual(['a.pdf', 'b.pdf']);
    await next.end('SIGKILL');
  });

  it.each([
    { channel: 'Telegram', chat: chatOnTelegram, provider: () => telegram },
    { channel: 'WhatsApp', chat: chatOnWhatsApp, provider: () => whatsApp },
  ])('a worker killed while $channel answers may have sent a file; the others follow', async (given) => {
    const provider = given.provider();
    const { shop, id, names } = await given.chat();
    const message = await send(shop, id, [
      ['a.pdf', large(1)],
      ['b.pdf', PDF],
    ]);
    provider.troubleNext({ kind: 'slow' });
    const worker = await startWorker();
    await waitFor('the file', () => names().length === 1);
    await worker.end('SIGKILL');
    expect(await partsOf(message)).toEqual(['SENDING', 'QUEUED']);
    await endLeases();
    const next = await startWorker();
    await waitFor('the first file to be unknown', async () => (await partsOf(message))[0] === 'UNKNOWN');
    // WhatsApp's report of the first file is awaited for 30 s.
    await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE message_id = $1', [
      message.id,
    ]);
    await shop.delivered(message, 'UNKNOWN', 20_000);
    expect(await partsOf(message)).toEqual(['UNKNOWN', 'SENT']);
    expect(names()).toEqual(['a.pdf', 'b.pdf']);
    await next.end('SIGKILL');
  });

  it('a worker killed between two files leaves the second to another', async () => {
    const { shop, id, names } = await chatOnTelegram();
    const message = await send(shop, id, [
      ['a.pdf', PDF],
      ['b.pdf', PDF],
      ['c.pdf', PDF],
    ]);
    const worker = await startWorker();
    await waitFor('the first file', async () => (await partsOf(message))[0] === 'SENT');
    await worker.end('SIGKILL');
    await endLeases();
    const next = await startWorker();
    await shop.delivered(message, 'SENT', 20_000);
    expect(names()).toEqual(['a.pdf', 'b.pdf', 'c.pdf']);
    await next.end('SIGKILL');
  });

  itOnLinux(
    '/proc',
    'no worker holds a large file in memory',
    async () => {
      const { shop, id, names } = await chatOnWhatsApp();
      const worker = await startWorker();
      const first = await send(shop, id, [['small.pdf', large(1)]]);
      await shop.delivered(first, 'SENT', 20_000);
      const usage = new ProcessUsage([{ name: 'worker', pid: worker.pid }]);
      usage.sample();
      const before = usage.memory.latest.get('worker')!;
      const message = await send(shop, id, [['large.pdf', large(95)]]);
      await shop.delivered(message, 'SENT', 60_000);
      usage.stop();
      expect(usage.memory.peaks.get('worker')! - before).toBeLessThan(48);
      expect(names()).toEqual(['small.pdf', 'large.pdf']);
      await worker.end('SIGKILL');
    },
    120_000,
  );

  it('an upload may take longer than a lease, and no second worker begins it', async () => {
    const { shop, id, names } = await chatOnWhatsApp();
    const message = await send(shop, id, [['a.pdf', large(20)]]);
    const { uploadsBegun } = whatsApp;
    whatsApp.pauseInUploads = 90;
    const workers = [await startWorker(), await startWorker()];
    const startedAt = Date.now();
    await shop.delivered(message, 'SENT', 120_000);
    expect(Date.now() - startedAt).toBeGreaterThan(25_000);
    expect(whatsApp.uploadsBegun - uploadsBegun).toBe(1);
    expect(names()).toEqual(['a.pdf']);
    for (const worker of workers) await worker.end('SIGKILL');
  }, 180_000);
});
