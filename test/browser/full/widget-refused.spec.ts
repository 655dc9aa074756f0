import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../../src/access/principal';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';

/** Tests of a chat that the service refuses, and of what its visitor and page see. */

jest.setTimeout(120_000);

const UNAVAILABLE = 'This chat is not available at the moment.';

describe('a chat', () => {
  let chat: LiveChat;
  let device: Device;
  let visit = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    visit += 1;
    device = await chat.device();
  });
  afterEach(() => device.close());

  const allowOrigins = (allowedOrigins: string[]) =>
    chat.office.app
      .get(ChannelConnectionsService, { strict: false })
      .rotate(
        chat.workspace.id,
        chat.widget.connection.id,
        { allowedOrigins, keepIdentitySecret: true },
        SYSTEM,
      );
  const errorsOf = ({ page }: ChatPage) =>
    page.evaluate(() => (window as unknown as { codes: string[] }).codes);
  const visitListening = async (path?: string) => {
    const tab = await device.visit(path);
    await tab.page.waitForFunction(() => 'on' in ((window as { chatWidget?: object }).chatWidget ?? {}));
    await tab.page.evaluate(() => {
      const shop = window as unknown as {
        codes: string[];
        chatWidget: { on(name: 'error', listener: (error: { code: string }) => void): void };
      };
      shop.codes = [];
      shop.chatWidget.on('error', ({ code }) => shop.codes.push(code));
    });
    await tab.open();
    return tab;
  };
  const expectUnavailable = async (tab: ChatPage) => {
    await tab.write(`Is anybody there? (${visit})`);
    await tab.notice.filter({ hasText: UNAVAILABLE }).waitFor();
    expect(await errorsOf(tab)).toEqual(['unavailable']);
    await tab.message(`Is anybody there? (${visit})`).getByText('Not sent').waitFor();
    expect(await tab.composer.isDisabled()).toBe(true);
  };

  it('whose origin is not allowed says so, and sends what was written once it is', async () => {
    await allowOrigins(['https://elsewhere.example']);
    const tab = await visitListening();
    await expectUnavailable(tab);
    await allowOrigins([chat.pages.origin, chat.pages.insecureOrigin]);
    await tab.waitFor(`Is anybody there? (${visit})`, 'sent', 60_000);
    expect(await tab.notice.textContent()).toBe('');
    await tab.send(`Now (${visit})`);
    expect(await errorsOf(tab)).toEqual(['unavailable']);
  });

  it('that is no longer allowed keeps what was typed, and tries again when it is opened', async () => {
    const tab = await visitListening();
    await tab.send(`First (${visit})`);
    await allowOrigins(['https://elsewhere.example']);
    await tab.composer.fill('Half a sen');
    chat.network.killStreams();
    await tab.notice.filter({ hasText: UNAVAILABLE }).waitFor({ timeout: 30_000 });
    expect(await tab.composer.inputValue()).toBe('Half a sen');
    await allowOrigins([chat.pages.origin, chat.pages.insecureOrigin]);
    await tab.close();
    await tab.open();
    expect(await tab.composer.inputValue()).toBe('Half a sen');
    await tab.notice.filter({ hasText: UNAVAILABLE }).waitFor({ state: 'hidden' });
    await tab.composer.press('Enter');
    await tab.waitFor('Half a sen', 'sent');
    await tab.waitFor(`First (${visit})`, 'sent');
  });

  it('of a wrong site key says so', async () => {
    const tab = await visitListening('/wrong-key');
    await expectUnavailable(tab);
  });

  it('names its launcher for what it does', async () => {
    const tab = await device.chatAt();
    const launcher = tab.launcherOf('Close chat');
    expect(await launcher.getAttribute('title')).toBe('Close chat');
    await launcher.click();
    expect(await tab.launcherOf('Open chat').getAttribute('title')).toBe('Open chat');
  });

  it('says nothing of being online while it is offline', async () => {
    const tab = await device.chatAt();
    await tab.send(`Hello (${visit})`);
    await device.context.setOffline(true);
    await tab.notice.filter({ hasText: 'You are offline' }).waitFor();
    expect(await tab.panel.getByText('We are online').count()).toBe(0);
  });

  it.each(['drop', 'paste'] as const)('takes no files by %s, and says so', async (way) => {
    const tab = await device.chatAt();
    const isPrevented = await tab.composer.evaluate((field, kind) => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'grinder.jpg', { type: 'image/jpeg' }));
      const how = { bubbles: true, cancelable: true, composed: true };
      const over = new DragEvent('dragover', { ...how, dataTransfer: data });
      const event =
        kind === 'drop'
          ? new DragEvent('drop', { ...how, dataTransfer: data })
          : new ClipboardEvent('paste', { ...how, clipboardData: data });
      if (kind === 'drop') field.dispatchEvent(over);
      field.dispatchEvent(event);
      return kind === 'paste' || (over.defaultPrevented && event.defaultPrevented);
    }, way);
    expect(isPrevented).toBe(true);
    await tab.chosen('grinder.jpg').waitFor();
  });

  it.each([
    { isComposing: true, keyCode: 13 },
    { isComposing: false, keyCode: 229 },
    { isComposing: true, keyCode: 229 },
  ])('leaves the keys of a composition alone: %j (public report 61)', async (composing) => {
    const tab = await device.chatAt();
    await tab.composer.fill('にほん');
    for (const key of ['Enter', 'Escape', 'Tab'])
      await tab.composer.evaluate(
        (field, init) =>
          field.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, composed: true, ...init })),
        { key, ...composing },
      );
    expect(await tab.panel.isVisible()).toBe(true);
    expect(await tab.composer.inputValue()).toBe('にほん');
    expect(await tab.shown()).toEqual([]);
  });

  it.each([
    ['#0b6e4f', 'light'],
    ['#0b6e4f', 'dark'],
    ['#ffe600', 'light'],
    ['#101010', 'dark'],
  ])('with the accent %s has links of its hue and enough contrast in the %s theme', async (accent, theme) => {
    const tab = await device.visit('/shop', [['set', { theme }]]);
    await tab.page.addStyleTag({ content: `chat-widget { --chat-accent: ${accent} }` });
    await tab.open();
    await tab.send(`Where is it? (${visit})`);
    await (
      await chat.desk.conversationWith(`Where is it? (${visit})`)
    ).reply('Here: https://shop.example/tea');
    const link = tab.panel.getByRole('link');
    await link.waitFor();
    const contrast = await link.evaluate((element) => {
      const draw = (color: string) => {
        const context = new OffscreenCanvas(1, 1).getContext('2d')!;
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) => {
          const part = value / 255;
          return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        }) as [number, number, number];
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const [text, ground] = [
        draw(getComputedStyle(element).color),
        draw(getComputedStyle(element.parentElement!).backgroundColor),
      ];
      return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    });
    expect(contrast).toBeGreaterThan(4.5);
  });
});
