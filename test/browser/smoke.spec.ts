import { accessibilityFaults } from './accessibility';
import { Device, LiveChat, START_TIMEOUT_MS } from './live-chat';

/** Short tests of the widget in a browser. `npm run test:browser` runs all of them. */

describe('the widget in a browser', () => {
  let chat: LiveChat;
  let device: Device;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
  });
  afterEach(() => device.close());

  it('asks for one file and stores nothing before the chat is opened', async () => {
    const { length } = chat.network.requests;
    const { page, launcher } = await device.visit();
    await launcher.waitFor();
    await page.waitForLoadState('networkidle');
    expect(chat.network.requests.slice(length)).toEqual([{ method: 'GET', path: '/widget/v1.js' }]);
    expect(await device.stored(page)).toEqual({ keys: [], databases: [], cookies: '' });
  });

  it('carries a conversation, each message once', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Do you ship to Spain?');
    const conversation = await chat.desk.conversationWith('Do you ship to Spain?');
    await conversation.reply('Yes, within three days.');
    await visitor.waitFor('Yes, within three days.', 'received');
    await conversation.waitForStatus('Yes, within three days.', 'READ');
    await visitor.reload();
    await visitor.waitFor('Yes, within three days.', 'received');
    const shown = await visitor.readAll();
    expect(shown.map(({ id }) => id)).toEqual((await conversation.messages()).map(({ id }) => id));
    expect(visitor.errors).toEqual([]);
  });

  it('sends once what was written offline', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Before the tunnel');
    const conversation = await chat.desk.conversationWith('Before the tunnel');
    await device.context.setOffline(true);
    await visitor.write('In the tunnel');
    await visitor.notice.filter({ hasText: 'You are offline' }).waitFor();
    await device.context.setOffline(false);
    await visitor.waitFor('In the tunnel', 'sent');
    const bodies = (await conversation.messages()).map(({ body }) => body);
    expect(bodies).toEqual(['Before the tunnel', 'In the tunnel']);
  });

  it('is back with its draft when its page writes another document (public report 48)', async () => {
    const visitor = await device.chatAt();
    await visitor.composer.fill('Half a sentence');
    await visitor.page.evaluate("document.open(); document.write('<body>Another view'); document.close()");
    await visitor.composer.waitFor();
    expect(await visitor.composer.inputValue()).toBe('Half a sentence');
    await visitor.composer.press('Enter');
    await visitor.waitFor('Half a sentence', 'sent');
    expect(await visitor.page.locator('chat-widget').count()).toBe(1);
  });

  it.each(['light', 'dark'] as const)('is accessible in the %s theme', async (theme) => {
    const visitor = await device.chatAt('/shop', [['set', { theme }]]);
    await visitor.send(`Is ${theme} tea good?`);
    const conversation = await chat.desk.conversationWith(`Is ${theme} tea good?`);
    await conversation.reply('It is: https://shop.example/tea');
    await visitor.waitFor('It is:', 'received');
    expect(await accessibilityFaults(visitor)).toEqual([]);
  });

  it('violates no strict policy', async () => {
    const visitor = await device.chatAt('/strict');
    await visitor.send('Strictly speaking');
    const conversation = await chat.desk.conversationWith('Strictly speaking');
    await conversation.reply('Strictly answering');
    await visitor.waitFor('Strictly answering', 'received');
    expect(visitor.errors).toEqual([]);
    expect(chat.pages.violations).toEqual([]);
  });
});
