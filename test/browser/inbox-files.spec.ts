import { Readable } from 'node:stream';
import { AttachmentWriter } from '../../src/attachments/attachment-writer';
import { AttachmentEntity } from '../../src/attachments/attachment.entity';
import { ReceivedFiles } from '../../src/attachments/received-files';
import { Database } from '../../src/database/database';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { waitFor } from '../support/wait';
import { accessibilityFaultsOf } from './accessibility';
import { AgentPage, DashboardInBrowser } from './dashboard-in-browser';
import { downloadOf } from './downloads';
import { PHONE } from './phone';
import { heicOf, pngBomb, pngOf, SampleFile, textFile, wavOf } from './sample-files';
import { withDashboard } from './with-dashboard';

const MEBIBYTE = 1024 * 1024;
const PDF = textFile('invoice.pdf', '%PDF-1.4\n%%EOF\n', 'application/pdf');
const HEIC = heicOf('IMG_0001.HEIC');
type Received = Parameters<AttachmentWriter['addReceived']>[2][number];

describe('files in the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;
  let made: { id: string };

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  });

  async function open(page = visit.page) {
    made ??= await world.service.make.begun(workspace, 'Ana', 'My parcel is broken');
    await page.goto(`/w/${workspace.slug}/inbox/${made.id}?view=all`);
    await page.locator('article').first().waitFor();
    await page.getByRole('button', { name: /^(Attach files|Dateien anhängen)$/ }).waitFor();
  }
  beforeEach(async () => {
    made = await world.service.make.begun(workspace, 'Ana', 'My parcel is broken');
  });

  const choose = (...files: SampleFile[]) => visit.page.locator('input[type="file"]').setInputFiles(files);
  const chosen = (name: string) =>
    visit.page.getByRole('list', { name: 'Chosen files' }).getByRole('listitem').filter({ hasText: name });
  const uploaded = (name: string, count = 1) =>
    waitFor(`${name} to be uploaded`, async () => {
      return (await chosen(name).filter({ hasText: 'Uploaded' }).count()) === count;
    });
  const picture = (name: string) => visit.page.getByRole('button', { name: `Open ${name}` });
  const send = () => visit.button('Send').click();
  const shoot = async (name: string, page = visit.page) => {
    const folder = process.env['SHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
  };
  const sent = () =>
    world.service.query<{ body: string; names: string[] | null; captions: string[] | null }>(
      `SELECT m.body, array_agg(a.name ORDER BY a.position) AS names,
              array_agg(a.caption ORDER BY a.position) AS captions
       FROM messages m LEFT JOIN attachments a ON a.tenant_id = m.tenant_id AND a.message_id = m.id
       WHERE m.tenant_id = $1 AND m.sender_type = 'AGENT' GROUP BY m.id, m.body ORDER BY m.id`,
      [workspace.id],
    );

  /** Stores a customer's message with files that are still to be fetched. */
  async function receive(...received: Received[]): Promise<AttachmentEntity[]> {
    const message = await world.service.make.received(workspace, made, '[image]');
    const { app } = world.service;
    return app.get(Database).transaction(async (tx) => {
      const of = { ...message, tenantId: workspace.id, conversationId: made.id };
      const added = app.get(AttachmentWriter).addReceived(tx, of, received);
      await tx.query(
        `UPDATE messages SET attachment_count = $4, is_described = true
         WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3`,
        [workspace.id, made.id, message.id, received.length],
      );
      return added;
    });
  }
  const received = (
    kind: Received['kind'],
    name: string,
    state: Received['state'] = 'PENDING',
  ): Received => ({
    kind,
    name,
    contentType: null,
    size: null,
    caption: null,
    state,
    problem: null,
  });
  const arrive = ({ id }: AttachmentEntity, { name, buffer }: SampleFile) =>
    world.service.app
      .get(ReceivedFiles)
      .store({ tenantId: workspace.id, attachmentId: id }, Readable.from([buffer]), {
        name,
        contentType: null,
        maxBytes: MEBIBYTE,
        durationMs: null,
      });

  it('are chosen, captioned, sent together with the text, and shown', async () => {
    await open();
    await choose(pngOf('parcel.png', 640, 480), PDF, wavOf('voice.wav'));
    await uploaded('parcel.png');
    await uploaded('invoice.pdf');
    await uploaded('voice.wav');
    await visit.field('Caption of parcel.png').fill('The label');
    await visit.field('Reply').fill('Here it is.');
    await shoot('composer');
    await send();
    await picture('parcel.png').waitFor();
    await visit.page.getByRole('link', { name: 'Save invoice.pdf' }).waitFor();
    await visit.page.locator('audio').waitFor();
    expect(await chosen('').count()).toBe(0);
    expect(await visit.field('Reply').inputValue()).toBe('');
    const [message] = await sent();
    expect(message).toMatchObject({ body: 'Here it is.', names: ['parcel.png', 'invoice.pdf', 'voice.wav'] });
    expect(message?.captions).toEqual(['The label', null, null]);
    await visit.text('The label').waitFor();
    await waitFor('the picture', () =>
      visit.page.locator('article img').evaluate((image: HTMLImageElement) => image.naturalWidth > 0),
    );
    await shoot('thread');
    const saved = await downloadOf(visit.page.getByRole('link', { name: 'Save invoice.pdf' }));
    expect(saved.suggestedFilename()).toBe('invoice.pdf');
  });

  it('are refused in words: empty, too large, or of a type that the channel does not take', async () => {
    made = await world.service.make.conversation(workspace, { channel: 'WHATSAPP' });
    await world.service.make.received(workspace, made, 'Hello');
    await open();
    const arabic = `${'ص'.repeat(300)}.png`;
    await choose(
      { name: 'nothing.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
      HEIC,
      pngOf(arabic, 40, 30),
      pngOf('same.png', 40, 30),
      pngOf('same.png', 30, 40),
    );
    await chosen('nothing.txt').getByText('The file is empty.').waitFor();
    await chosen('IMG_0001.HEIC').getByText('WhatsApp takes no files of this type.').waitFor();
    await uploaded('same.png', 2);
    await uploaded('ص'.repeat(251));
    await shoot('refusals');
    await visit.field('Reply').fill('Look');
    expect(await visit.button('Send').isDisabled()).toBe(true);
    await visit.button('Remove nothing.txt').click();
    await visit.button('Remove IMG_0001.HEIC').click();
    await send();
    await picture('same.png').nth(1).waitFor();
    const [message] = await sent();
    expect(message?.names).toEqual([`${'ص'.repeat(251)}.png`, 'same.png', 'same.png']);
    const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(1280);
    await shoot('names');
  });

  it('are refused above the limit of the channel, before they are uploaded', async () => {
    made = await world.service.make.conversation(workspace, { channel: 'MESSENGER' });
    await world.service.make.received(workspace, made, 'Hello');
    await open();
    await choose({ name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(26 * MEBIBYTE) });
    await chosen('film.mp4').getByText('Too large for Messenger: 25 MB at most.').waitFor();
    await visit.text(/Messenger takes up to 10 files: pictures up to 8 MB, audio up to 25 MB/).waitFor();
    const uploads = await world.service.query('SELECT FROM files WHERE tenant_id = $1', [workspace.id]);
    expect(uploads).toEqual([]);
  });

  it('never run, and are a card where the browser cannot draw them', async () => {
    await open();
    const polyglot = textFile('photo.png', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
    await choose(polyglot, HEIC, pngBomb('bomb.png'));
    await uploaded('photo.png');
    await uploaded('IMG_0001.HEIC');
    await uploaded('bomb.png');
    await send();
    for (const name of ['photo.png', 'IMG_0001.HEIC', 'bomb.png'])
      await visit.page.getByRole('link', { name: `Save ${name}` }).waitFor();
    expect(await visit.page.locator('article img').count()).toBe(0);
    await shoot('cards');
  });

  it('are kept with the draft and their captions when they cannot be sent, and after a reload', async () => {
    await open();
    await choose(pngOf('parcel.png', 64, 48));
    await uploaded('parcel.png');
    await visit.field('Caption of parcel.png').fill('The label');
    await visit.field('Reply').fill('Here it is.');
    await visit.page.reload();
    await uploaded('parcel.png');
    expect(await visit.field('Caption of parcel.png').inputValue()).toBe('The label');
    await visit.context.setOffline(true);
    await choose(PDF);
    await chosen('invoice.pdf').getByText('No connection. It goes on by itself.').waitFor();
    expect(await visit.button('Send').isDisabled()).toBe(true);
    await shoot('offline');
    await visit.context.setOffline(false);
    await uploaded('invoice.pdf');
    await visit.context.setOffline(true);
    await send();
    const unsent = visit.page.locator('article[data-unsent]');
    await unsent.getByText('invoice.pdf').waitFor();
    await unsent.getByRole('button', { name: 'Edit' }).click();
    expect(await visit.field('Reply').inputValue()).toBe('Here it is.');
    expect(await visit.field('Caption of parcel.png').inputValue()).toBe('The label');
    await visit.context.setOffline(false);
    await send();
    await picture('parcel.png').waitFor();
    expect(await sent()).toMatchObject([
      { names: ['parcel.png', 'invoice.pdf'], captions: ['The label', null] },
    ]);
  });

  it('that are not uploaded yet survive a reload', async () => {
    await open();
    await visit.page.route('**/uploads/*/content', (route) => route.abort('connectionrefused'));
    await choose(pngOf('parcel.png', 64, 48));
    await chosen('parcel.png').getByText('No connection. It goes on by itself.').waitFor();
    await visit.page.unroute('**/uploads/*/content');
    await visit.page.reload();
    await uploaded('parcel.png');
  });

  it('are not lost to a second tab, which has no copy of them', async () => {
    const before = visit;
    visit = await world.enter(workspace, 'AGENT');
    await visit.context.addInitScript(() => {
      IDBFactory.prototype.open = () => {
        throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
      };
    });
    await open();
    await visit.page.route('**/uploads/*/content', (route) => route.abort('connectionrefused'));
    await choose(pngOf('parcel.png', 64, 48));
    await chosen('parcel.png').getByText('No connection. It goes on by itself.').waitFor();
    const second = await visit.context.newPage();
    await open(second);
    const there = second.getByRole('list', { name: 'Chosen files' }).getByRole('listitem');
    await there.getByText('Waiting…').waitFor();
    await shoot('second-tab', second);
    await visit.page.unroute('**/uploads/*/content');
    await uploaded('parcel.png');
    await there.getByText('Uploaded').waitFor();
    await visit.page.route('**/uploads/*/content', () => undefined);
    await choose(PDF);
    await chosen('invoice.pdf').getByText('0 %').waitFor();
    await there.getByText('Waiting…').waitFor();
    await visit.page.close();
    await there.getByText('This browser has it no longer.').waitFor();
    visit = before;
  });

  it('are cancelled while they are uploaded, and deleted once they are', async () => {
    await open();
    await visit.page.route('**/uploads/*/content', () => undefined);
    await choose(pngOf('slow.png', 64, 48));
    await visit.button('Cancel the upload of slow.png').click();
    expect(await chosen('slow.png').count()).toBe(0);
    await visit.page.unrouteAll();
    await choose(pngOf('done.png', 64, 48));
    await uploaded('done.png');
    await visit.button('Remove done.png').click();
    await waitFor('the uploads to be given up', async () => {
      const sql = 'SELECT FROM files WHERE tenant_id = $1 AND delete_at > now()';
      return (await world.service.query(sql, [workspace.id])).length === 0;
    });
  });

  it('are dropped and pasted anywhere, ten at most', async () => {
    await open();
    await visit.page.locator('article').evaluate((element) => {
      const data = new DataTransfer();
      for (let n = 1; n <= 11; n++) data.items.add(new File(['x'], `${n}.txt`, { type: 'text/plain' }));
      const how = { bubbles: true, cancelable: true, dataTransfer: data };
      for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, how));
    });
    await uploaded('10.txt');
    await visit.text('A reply takes 10 files. The others were left out.').waitFor();
    expect(await chosen('').count()).toBe(10);
    await visit.button('Remove 10.txt').click();
    await visit.field('Reply').evaluate((element) => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'pasted.txt', { type: 'text/plain' }));
      element.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, clipboardData: data }));
    });
    await uploaded('pasted.txt');
  });

  it('of a customer appear when they are stored, or say why they will not', async () => {
    await open();
    const [photo, lost, story] = await receive(
      received('IMAGE', 'broken.png'),
      received('FILE', 'lost.pdf'),
      received('VIDEO', 'story', 'LINK_ONLY'),
    );
    await visit.text('Being fetched…').first().waitFor();
    await visit.text('It stays at Telegram and is not fetched. Look at it there.').waitFor();
    await shoot('pending');
    const { app } = world.service;
    await arrive(photo!, pngOf('broken.png', 300, 200));
    await picture('broken.png').waitFor();
    await app
      .get(Database)
      .transaction((tx) =>
        app.get(ReceivedFiles).fail(tx, { tenantId: workspace.id, attachmentId: lost!.id }, 'GONE'),
      );
    await visit.text('The channel has deleted it.').waitFor();
    await visit.button('Fetch again').waitFor();
    expect(story).toBeDefined();
    await shoot('states');
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
  });

  it('are looked at by keyboard', async () => {
    await open();
    await choose(pngOf('one.png', 640, 480), pngOf('two.png', 200, 600));
    await uploaded('one.png');
    await uploaded('two.png');
    await send();
    await picture('two.png').waitFor();
    await picture('one.png').focus();
    await visit.page.keyboard.press('Enter');
    await visit.dialog.getByText('1 of 2').waitFor();
    await visit.page.keyboard.press('ArrowRight');
    await visit.dialog.getByText('2 of 2').waitFor();
    await visit.dialog.getByRole('img', { name: 'two.png' }).waitFor();
    await shoot('viewer');
    expect(await accessibilityFaultsOf(visit.page, '[role="dialog"]')).toEqual([]);
    await visit.page.keyboard.press('Escape');
    await visit.dialog.waitFor({ state: 'detached' });
    expect(await picture('one.png').evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it.each([
    ['light', 'en-GB'],
    ['dark', 'de-DE'],
  ] as const)('pass axe on a phone, %s, in %s', async (colorScheme, locale) => {
    const phone = await world.enter(workspace, 'AGENT', { ...PHONE, colorScheme, locale });
    visit = phone;
    await open();
    const isGerman = locale === 'de-DE';
    await choose(pngOf('a-rather-long-name-of-a-picture-of-a-parcel.png', 640, 480), PDF, HEIC);
    const done = phone.page.getByText(isGerman ? 'Hochgeladen' : 'Uploaded', { exact: true });
    await waitFor('all uploads', async () => (await done.count()) === 3);
    await shoot(`phone-composer-${locale}`);
    expect(await accessibilityFaultsOf(phone.page, 'main')).toEqual([]);
    await phone.button(isGerman ? 'Senden' : 'Send').click();
    await phone.page.locator('article img').waitFor();
    await shoot(`phone-thread-${locale}`);
    const message = 'article[data-from="agent"]';
    expect(await accessibilityFaultsOf(phone.page, message)).toEqual([]);
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });
});
