import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { waitFor } from '../../support/wait';
import { PHONE } from '../phone';

/** Tests of what the chat keeps when its visitor goes to another page of the shop. */

jest.setTimeout(180_000);

/** Most characters of a draft that are kept. */
const MAX_DRAFT = 16_384;

type ChatWidget = Record<'identify' | 'logout' | 'set' | 'close', (argument?: unknown) => unknown>;

describe('a change of the page', () => {
  let chat: LiveChat;
  let device: Device;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
  });
  afterEach(() => device.close());

  const go = (tab: ChatPage, path: string) => tab.page.goto(chat.pages.origin + path);
  const call = (tab: ChatPage, name: keyof ChatWidget, argument?: unknown) =>
    tab.page.evaluate(
      ([method, given]) => void (window as unknown as { chatWidget: ChatWidget }).chatWidget[method](given),
      [name, argument] as const,
    );
  const identityOf = (id: string) => ({ id, signature: chat.widget.sign(id) });
  const kept = (tab: ChatPage) => tab.page.evaluate(() => Object.values(sessionStorage).join());

  it('keeps the chat open and the draft, and leaves the focus to the page', async () => {
    const tab = await device.chatAt();
    await tab.composer.fill('Do you ship to');
    await go(tab, '/strict');
    await tab.composer.waitFor();
    expect(await tab.composer.inputValue()).toBe('Do you ship to');
    expect(await tab.page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
    await tab.composer.pressSequentially(' Spain?');
    await tab.composer.press('Enter');
    await tab.waitFor('Do you ship to Spain?', 'sent');
    await go(tab, '/shop');
    await tab.waitFor('Do you ship to Spain?', 'sent');
    expect(await tab.composer.inputValue()).toBe('');

    await tab.composer.fill('Not now');
    await tab.close();
    await go(tab, '/german');
    await tab.page.waitForFunction(() =>
      document.querySelector('chat-widget')?.shadowRoot?.querySelector('.root'),
    );
    expect(await tab.panel.isVisible()).toBe(false);
    await tab.page.locator('chat-widget').getByRole('button', { name: 'Chat öffnen' }).click();
    const composer = tab.panel.getByRole('textbox', { name: 'Nachricht' });
    expect(await composer.inputValue()).toBe('Not now');
    await composer.fill('');
    await tab.panel.getByRole('button', { name: 'Chat schließen' }).click();
    expect(await kept(tab)).toBe('');
    expect([...tab.errors, ...chat.pages.violations]).toEqual([]);
  });

  it('keeps the draft of one tab alone, and at most so much of it', async () => {
    const [first, second] = [await device.chatAt(), await device.chatAt()];
    await first.composer.fill('x'.repeat(100_000));
    expect((await kept(first)).length).toBeLessThan(MAX_DRAFT + 200);
    await go(second, '/shop');
    await second.composer.waitFor();
    expect(await second.composer.inputValue()).toBe('');
    await go(first, '/shop');
    await first.composer.waitFor();
    expect(await first.composer.inputValue()).toHaveLength(MAX_DRAFT);
  });

  it('shows nothing of a visitor who has logged out, nor to another one', async () => {
    const tab = await device.chatAt('/shop');
    await call(tab, 'identify', identityOf('anna'));
    await tab.composer.fill('Anna writes');
    await go(tab, '/shop');
    await tab.composer.waitFor();
    expect(await tab.composer.inputValue()).toBe('Anna writes');
    await call(tab, 'logout');
    await tab.page.waitForFunction(() => !Object.values(sessionStorage).join().includes('Anna'));
    await go(tab, '/shop');
    await tab.composer.waitFor();
    expect(await tab.composer.inputValue()).toBe('');

    await call(tab, 'identify', identityOf('bert'));
    await tab.composer.fill('Bert writes');
    const next = await tab.page.context().newPage();
    await next.goto(`${chat.pages.origin}/shop`);
    await next.waitForFunction(() => 'open' in (window as unknown as { chatWidget: object }).chatWidget);
    await next.evaluate((who) => {
      (window as unknown as { chatWidget: ChatWidget }).chatWidget.logout();
      (window as unknown as { chatWidget: ChatWidget }).chatWidget.identify(who);
    }, identityOf('carl'));
    await next.waitForFunction(() => Object.values(localStorage).join().includes('carl'));
    await go(tab, '/shop');
    await tab.composer.waitFor();
    expect(await tab.composer.inputValue()).toBe('');
    expect(await kept(tab)).not.toContain('Bert');
  });

  it('does not show the draft of a visitor who did not log out to the one who logs in', async () => {
    const tab = await device.chatAt('/shop');
    await call(tab, 'identify', identityOf('dora'));
    await tab.composer.fill('Dora writes');
    await tab.page.addInitScript(
      (who) => Object.assign(window, { chatWidget: [['identify', who]] }),
      identityOf('emil'),
    );
    await go(tab, '/shop');
    await tab.page.waitForFunction(() => Object.values(localStorage).join().includes('emil'));
    await tab.open();
    expect(await tab.composer.inputValue()).toBe('');
    expect(await kept(tab)).not.toContain('Dora');
  });

  it('takes the draft of a visitor who logs in along', async () => {
    const tab = await device.chatAt();
    await tab.composer.fill('Written as nobody');
    await tab.page.addInitScript(
      (who) => Object.assign(window, { chatWidget: [['identify', who]] }),
      identityOf('fritz'),
    );
    await go(tab, '/shop');
    await tab.composer.waitFor();
    expect(await tab.composer.inputValue()).toBe('Written as nobody');
    await go(tab, '/shop');
    await tab.composer.waitFor();
    expect(await tab.composer.inputValue()).toBe('Written as nobody');
  });

  it('leaves the page free on a phone, and keeps the draft', async () => {
    const phone = await chat.device(PHONE);
    const tab = await phone.chatAt();
    await tab.composer.fill('Typed with thumbs');
    await go(tab, '/shop');
    await tab.page.waitForFunction(() =>
      document.querySelector('chat-widget')?.shadowRoot?.querySelector('.root'),
    );
    expect(await tab.panel.isVisible()).toBe(false);
    await tab.open();
    expect(await tab.composer.inputValue()).toBe('Typed with thumbs');
    await phone.close();
  });

  it('closes the chat if the page says so', async () => {
    const tab = await device.chatAt();
    await tab.page.addInitScript(() => Object.assign(window, { chatWidget: [['close']] }));
    await go(tab, '/shop');
    await tab.page.waitForFunction(() => sessionStorage.length === 0);
    expect(await tab.panel.isVisible()).toBe(false);
  });

  describe('back to a page that the browser had put aside', () => {
    const leave = async (tab: ChatPage) => {
      await tab.page.evaluate(() => Object.assign(window, { wasPutAside: true }));
      await go(tab, '/strict');
    };
    const comeBack = async (tab: ChatPage) => {
      // The page comes without the event `load`, for which Playwright would wait.
      await tab.page.goBack({ waitUntil: 'commit' });
      expect(await tab.page.evaluate(() => 'wasPutAside' in window)).toBe(true);
    };
    const waitForDraft = (tab: ChatPage, draft: string) =>
      waitFor(`the draft "${draft}"`, async () => (await tab.composer.inputValue()) === draft);

    it('shows the newest draft', async () => {
      const tab = await device.chatAt('/shop');
      await tab.composer.fill('One');
      await leave(tab);
      await tab.composer.waitFor();
      await tab.composer.fill('One and two');
      await comeBack(tab);
      await waitForDraft(tab, 'One and two');
      await tab.composer.pressSequentially(' and three');
      expect(await kept(tab)).toContain('One and two and three');
    });

    it('shows no draft that was sent since, but the message', async () => {
      const tab = await device.chatAt('/shop');
      await tab.composer.fill('Sent elsewhere');
      await leave(tab);
      await tab.composer.waitFor();
      await tab.composer.press('Enter');
      await tab.waitFor('Sent elsewhere', 'sent');
      await tab.close();
      await comeBack(tab);
      await waitForDraft(tab, '');
      await tab.waitFor('Sent elsewhere', 'sent');
      await tab.send('Sent here');
      expect(tab.errors).toEqual([]);
    });

    it('keeps its own draft where storage fails', async () => {
      await device.refuseStorage('fails');
      const tab = await device.chatAt('/shop');
      await tab.composer.fill('Half a');
      await leave(tab);
      await tab.open();
      await comeBack(tab);
      await tab.composer.pressSequentially(' word');
      expect(await tab.composer.inputValue()).toBe('Half a word');
    });
  });

  it.each([
    '{}',
    '5',
    '{',
    '"x"',
    '[]',
    '{"owner":"user:anna"}',
    '{"owner":"user:anna","draft":5,"isOpen":1}',
  ])('counts %s in the storage as nothing kept', async (nonsense) => {
    const tab = await device.visit('/shop');
    await tab.page.evaluate(
      ([key, value]) => {
        localStorage.setItem(key, value);
        sessionStorage.setItem(key, value);
      },
      [`chat-widget:${chat.widget.siteKey}`, nonsense] as const,
    );
    await go(tab, '/shop');
    await tab.open();
    await tab.send('Here I am');
    await go(tab, '/shop');
    await tab.waitFor('Here I am', 'sent');
    expect(tab.errors).toEqual([]);
  });

  it.each(['throws', 'fails'] as const)('keeps nothing where storage %s, and breaks nothing', async (how) => {
    await device.refuseStorage(how);
    const tab = await device.chatAt();
    await tab.composer.fill('Half a');
    await go(tab, '/shop');
    await tab.open();
    expect(await tab.composer.inputValue()).toBe('');
    await tab.send(`Whole, ${how}`);
    expect(tab.errors).toEqual([]);
  });
});

describe('the settings of a page', () => {
  let chat: LiveChat;
  let tab: ChatPage;

  beforeAll(async () => {
    chat = await LiveChat.start();
    tab = await (await chat.device()).visit();
    await tab.launcher.waitFor();
  }, START_TIMEOUT_MS);

  it.each([
    [{ color: 'red' }],
    [{ theme: 'pink' }],
    [{ theme: ['dark'] }],
    [{ position: 'top' }],
    [{ title: 5 }],
    [{ welcome: null }],
    [{ locale: { tag: 'de' } }],
    [{ form: 'name' }],
    [{ form: null }],
    [{ form: { name: 'perhaps' } }],
    [{ form: { phone: 'optional' } }],
    [{ texts: 'Hello' }],
    [{ texts: ['Hello'] }],
    [{ texts: null }],
    [{ texts: { openChat: 5 } }],
    [{ texts: { openChat: 'Right', unread: { one: 'No other' } } }],
    [{ texts: { openChat: 'Right' }, theme: 'wrong' }],
    ['dark'],
    [[{ title: 'Tea' }]],
    [null],
    [undefined],
  ])('%j are refused, and change nothing', async (settings) => {
    const error = await tab.page.evaluate((given) => {
      try {
        (window as unknown as { chatWidget: ChatWidget }).chatWidget.set(given);
        return null;
      } catch (thrown) {
        return (thrown as Error).name;
      }
    }, settings);
    expect(error).toBe('TypeError');
    expect(await tab.launcher.getAttribute('aria-label')).toBe('Open chat');
  });

  it('are taken, with any text', async () => {
    await tab.page.evaluate(() =>
      (window as unknown as { chatWidget: ChatWidget }).chatWidget.set({
        locale: 'en',
        theme: 'dark',
        position: 'left',
        title: 'Tea, "green"\nand black',
        welcome: '',
        form: { name: 'optional', email: 'required' },
        texts: { openChat: 'Ask us' },
      }),
    );
    await tab.page.evaluate(() =>
      (window as unknown as { chatWidget: ChatWidget }).chatWidget.set({ form: {}, theme: undefined }),
    );
    await tab.page.locator('chat-widget').getByRole('button', { name: 'Ask us' }).click();
    await tab.panel.getByRole('heading', { name: 'Tea' }).waitFor();
  });
});
