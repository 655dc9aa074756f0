import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Page } from 'playwright-core';
import { accessibilityFaults } from './accessibility';
import { downloadOf } from './downloads';
import { Device, LiveChat, START_TIMEOUT_MS } from './live-chat';
import { PHONE } from './phone';
import { heicOf, pngBomb, pngOf, textFile, wavOf } from './sample-files';

const PARCEL = pngOf('parcel.png', 1600, 1200);

describe('files in the widget', () => {
  let chat: LiveChat;
  let device: Device;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
  });
  afterEach(() => device.close());

  it('keeps chosen files over a reload, sends them, and violates no strict policy', async () => {
    const visitor = await device.chatAt('/strict');
    await visitor.choose(PARCEL, textFile('invoice.pdf', '%PDF-1.4'));
    await visitor.composer.fill('It came broken');
    await visitor.reload();
    await visitor.chosen('parcel.png').waitFor();
    await visitor.chosen('invoice.pdf').waitFor();
    await visitor.comeToRest();
    await shoot(visitor, 'chosen');
    await visitor.composer.press('Enter');
    await visitor.waitFor('It came broken', 'sent');
    await visitor.drawn.waitFor();
    await shoot(visitor, 'sent');
    const conversation = await chat.desk.conversationWith('It came broken');
    const [message] = await conversation.messages();
    expect(message!.attachments.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'IMAGE parcel.png',
      'FILE invoice.pdf',
    ]);
    expect(visitor.errors).toEqual([]);
    expect(chat.pages.violations).toEqual([]);
  });

  it('keeps a file that was chosen and sent offline, and sends it once the network is back', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Hello first');
    await device.context.setOffline(true);
    await visitor.choose(textFile('list.txt', 'tea, cups'));
    await visitor.write('From the tunnel');
    await device.context.setOffline(false);
    await visitor.waitFor('From the tunnel', 'sent');
    const conversation = await chat.desk.conversationWith('From the tunnel');
    expect((await conversation.messages()).at(-1)!.attachments).toMatchObject([{ name: 'list.txt' }]);
  });

  it('sends a file after the tab that chose it has crashed', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Before the crash');
    await chat.network.cut();
    await visitor.choose(pngOf('crash.png', 40, 30));
    await visitor.write('Sent by the next tab');
    await device.crash(visitor);
    await chat.network.restore();
    const next = await device.chatAt();
    await next.waitFor('Sent by the next tab', 'sent');
    const conversation = await chat.desk.conversationWith('Sent by the next tab');
    const messages = await conversation.messages();
    expect(messages.map(({ body }) => body)).toEqual(['Before the crash', 'Sent by the next tab']);
    expect(messages[1]!.attachments).toMatchObject([{ kind: 'IMAGE', name: 'crash.png', width: 40 }]);
  });

  it('cancels a message whose files are not sent yet, while a text passes it', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Let me look');
    const conversation = await chat.desk.conversationWith('Let me look');
    await visitor.page.route('**/uploads', (route) => route.abort());
    await visitor.choose(PARCEL);
    await visitor.write('With a picture');
    await visitor.send('Wait');
    await visitor.message('With a picture').getByRole('button', { name: 'Cancel' }).click();
    await visitor.message('With a picture').waitFor({ state: 'detached' });
    await visitor.reload();
    await visitor.waitFor('Wait', 'sent');
    expect((await conversation.messages()).map(({ body }) => body)).toEqual(['Let me look', 'Wait']);
  });

  it('says why a file is not sent: a program, too large, empty', async () => {
    const visitor = await device.chatAt();
    await visitor.panel.locator('input[type=file]').setInputFiles([textFile('empty.txt', '')]);
    await visitor.notice.filter({ hasText: 'empty.txt: this file is empty' }).waitFor();
    const folder = mkdtempSync(join(tmpdir(), 'widget-files-'));
    const film = join(folder, 'film.mp4');
    writeFileSync(film, Buffer.alloc(25 * 1024 * 1024 + 1));
    await visitor.panel.locator('input[type=file]').setInputFiles(film);
    await visitor.notice.filter({ hasText: 'film.mp4: a file can have at most 25 MB' }).waitFor();
    rmSync(folder, { recursive: true });
    const program = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), Buffer.alloc(200)]);
    await visitor.choose({ name: 'game.bin', mimeType: '', buffer: program });
    await visitor.write('Try my game');
    await visitor.waitFor('This kind of file is not accepted.', 'failed');
  });

  it('sends a HEIC picture, a bomb, an SVG, a long Arabic name and two files of one name by keyboard', async () => {
    const visitor = await device.chatAt();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"/>';
    await visitor.choose(
      pngBomb('bomb.png'),
      textFile('drawing.png', svg, 'image/png'),
      pngOf(`${'ص'.repeat(300)}.png`, 40, 30),
      pngOf('same.png', 40, 30),
      pngOf('same.png', 30, 40),
      heicOf('IMG_0001.HEIC'),
    );
    await visitor.composer.fill('Six files');
    await visitor.composer.press('Enter');
    await visitor.waitFor('Six files', 'sent');
    const [message] = await (await chat.desk.conversationWith('Six files')).messages();
    expect(message!.attachments.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'IMAGE bomb.png',
      'FILE drawing.png',
      expect.stringContaining('ص'.repeat(200)),
      'IMAGE same.png',
      'IMAGE same.png',
      'FILE IMG_0001.HEIC',
    ]);
    for (const name of ['IMG_0001.HEIC', 'bomb.png', 'drawing.png'])
      await visitor.panel.getByRole('button', { name: `Save ${name}` }).waitFor();
    await visitor.panel.locator('canvas[data-drawn]').nth(2).waitFor();
    await shoot(visitor, 'hostile');
    await visitor.panel.getByRole('button', { name: 'Show same.png' }).last().press('Enter');
    await visitor.page.locator('chat-widget').getByRole('dialog', { name: 'same.png' }).waitFor();
    await visitor.page.keyboard.press('Escape');
    expect(await visitor.page.title()).toBe('Tea shop');
    expect(visitor.errors).toEqual([]);
  });

  it("shows an agent's files: a picture over the page, a sound to play, a document to save", async () => {
    const visitor = await device.chatAt('/strict');
    await visitor.send('What does it look like?');
    const conversation = await chat.desk.conversationWith('What does it look like?');
    await conversation.replyWith([
      pngOf('new.png', 900, 1600),
      wavOf('hello.wav'),
      textFile('terms.txt', 'All of it'),
    ]);
    await visitor.drawn.waitFor();
    await shoot(visitor, 'received');
    await visitor.panel.getByRole('button', { name: 'Show new.png' }).press('Enter');
    const viewer = visitor.page.locator('chat-widget').getByRole('dialog', { name: 'new.png' });
    await viewer.locator('canvas[data-drawn]').waitFor();
    await shoot(visitor, 'viewer');
    await visitor.page.keyboard.press('Tab');
    const [picture] = await Promise.all([
      visitor.page.waitForEvent('download'),
      visitor.page.keyboard.press('Enter'),
    ]);
    expect(picture.suggestedFilename()).toBe('new.png');
    await visitor.page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    expect(await visitor.panel.isVisible()).toBe(true);
    // The focus goes back to the button.
    expect(await visitor.panel.locator('button:focus').getAttribute('aria-label')).toBe('Show new.png');
    const saved = await downloadOf(visitor.panel.getByRole('button', { name: 'Save terms.txt' }));
    expect(saved.suggestedFilename()).toBe('terms.txt');
    expect(readFileSync(await saved.path(), 'utf8')).toBe('All of it');
    expect(chat.pages.violations).toEqual([]);
  });

  it('frees the bytes of a sound once its message is deleted', async () => {
    await device.context.addInitScript(() => {
      const addresses = new Set<string>();
      const create = URL.createObjectURL.bind(URL);
      const revoke = URL.revokeObjectURL.bind(URL);
      URL.createObjectURL = (object: Blob) => {
        const address = create(object);
        addresses.add(address);
        return address;
      };
      URL.revokeObjectURL = (address) => {
        addresses.delete(address);
        revoke(address);
      };
      Object.assign(window, { addresses });
    });
    const addresses = () =>
      visitor.page.evaluate(() => (window as unknown as { addresses: Set<string> }).addresses.size);
    const visitor = await device.chatAt();
    await visitor.choose(wavOf('hello.wav'));
    await visitor.write('Listen');
    await visitor.waitFor('Listen', 'sent');
    await visitor.panel.getByRole('button', { name: 'Play hello.wav' }).click();
    await visitor.panel.locator('audio').waitFor();
    expect(await addresses()).toBe(1);
    await visitor.message('Listen').getByRole('button', { name: 'Edit or delete' }).click();
    await visitor.message('Listen').getByRole('button', { name: 'Delete', exact: true }).click();
    await visitor.panel.locator('audio').waitFor({ state: 'detached' });
    expect(await addresses()).toBe(0);
  });

  it('sends a file that only the memory of another tab has', async () => {
    await device.context.addInitScript(() => {
      const table = IDBObjectStore.prototype;
      const stored = Object.getOwnPropertyDescriptor(table, 'put')!.value as IDBObjectStore['put'];
      table.put = function (row: object, ...rest) {
        if ('blob' in row) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
        return stored.call(this, row, ...rest);
      };
    });
    const first = await device.chatAt();
    await first.send('From the first tab');
    const second = await device.chatAt();
    await second.waitFor('From the first tab', 'sent');
    await second.choose(textFile('list.txt', 'tea, cups'));
    await second.write('From the second tab');
    await second.waitFor('From the second tab', 'sent');
    const conversation = await chat.desk.conversationWith('From the second tab');
    expect((await conversation.messages()).at(-1)!.attachments).toMatchObject([{ name: 'list.txt' }]);
    // Nobody has the file after the end of its tab.
    await chat.network.cut();
    await second.choose(textFile('lost.txt', 'spoons'));
    await second.write('Of a closed tab');
    await first.waitFor('Of a closed tab', 'sending');
    await second.page.close();
    await chat.network.restore();
    await first.waitFor('Of a closed tab', 'failed');
  });

  it('draws no bomb, no SVG and no broken picture, and still lets them be saved', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Show me everything');
    const conversation = await chat.desk.conversationWith('Show me everything');
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"/>';
    const polyglot = { ...pngOf('half.png', 64, 64), buffer: pngOf('', 64, 64).buffer.subarray(0, 60) };
    await conversation.replyWith([pngBomb('bomb.png'), textFile('a.svg', svg, 'image/svg+xml'), polyglot]);
    for (const name of ['bomb.png', 'a.svg'])
      await visitor.panel.getByRole('button', { name: `Save ${name}` }).waitFor();
    await visitor.panel.locator('.picture.undrawn').waitFor();
    expect(await visitor.page.title()).toBe('Tea shop');
  });

  it.each(['light', 'dark'] as const)('is accessible in the %s theme', async (theme) => {
    const visitor = await device.chatAt('/shop', [['set', { theme }]]);
    await visitor.choose(PARCEL, textFile('invoice.pdf', '%PDF-1.4'));
    await visitor.write('Look');
    await visitor.waitFor('Look', 'sent');
    await visitor.choose(textFile('two.txt', 'two'));
    await visitor.comeToRest();
    await shoot(visitor, theme);
    expect(await accessibilityFaults(visitor)).toEqual([]);
  });

  it('fits a phone, in German', async () => {
    await device.close();
    device = await chat.device({ ...PHONE, locale: 'de-DE' });
    const page = await device.visit('/german');
    await page.page
      .locator('chat-widget')
      .getByRole('button', { name: /^Chat öffnen/ })
      .click();
    await page.page
      .locator('chat-widget input[type=file]')
      .setInputFiles([PARCEL, textFile(`${'ملف'.repeat(80)}.pdf`, 'x')]);
    await page.page.locator('chat-widget .chosen-file').nth(1).waitFor();
    await shoot(page, 'phone-chosen');
    const box = await page.page.locator('chat-widget .remove').nth(1).boundingBox();
    expect(box!.x + box!.width).toBeLessThanOrEqual(PHONE.viewport.width);
    await page.page.locator('chat-widget').getByRole('button', { name: 'Senden' }).click();
    await page.drawn.waitFor();
    await page.page.locator('chat-widget').getByText('Gesendet', { exact: true }).first().waitFor();
    await shoot(page, 'phone-sent');
    const overflow = await page.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(overflow).toBe(false);
    const remove = page.page.locator('chat-widget').getByRole('button', { name: /entfernen$/ });
    expect(await remove.count()).toBe(0);
  });
});

/** Saves a screenshot if SCREENSHOT_FOLDER names a folder, so that a person can look at it. */
async function shoot({ page }: { page: Page }, name: string): Promise<void> {
  const folder = process.env['SCREENSHOT_FOLDER'];
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}
