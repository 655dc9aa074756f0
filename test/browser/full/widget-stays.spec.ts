import { Page } from 'playwright-core';
import { letTimePass, waitFor } from '../../support/wait';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { failHydration } from '../react-page';

/** Tests of a widget whose page changes its document: it is there and says so, or it comes back. */

jest.setTimeout(120_000);

type Change = [name: string, change: (page: Page) => Promise<unknown>];
const run = (script: string) => (page: Page) => page.evaluate(`(() => { ${script} })()`);

/** The ways of public report 48, and others of their kind. */
const CHANGES: Change[] = [
  ['draws into its body', run(`document.body.textContent = 'new view'`)],
  ['hydrates its document and fails', failHydration],
  [
    'replaces its root',
    run(`const h = document.createElement('html'); h.innerHTML = '<body>x';
      document.replaceChild(h, document.documentElement)`),
  ],
  ['writes its document', run(`document.open(); document.write('<body>x'); document.close()`)],
  ['removes the element', run(`document.querySelector('chat-widget').remove()`)],
  ['sets another body', run(`document.body = document.createElement('body')`)],
  [
    'moves the element to another document',
    run(`document.implementation.createHTMLDocument('').body.append(document.querySelector('chat-widget'))`),
  ],
  ['replaces its body', run(`document.body.replaceWith(document.createElement('body'))`)],
  ['empties its root', run(`document.documentElement.innerHTML = ''`)],
  [
    'writes its own HTML again',
    run(`document.documentElement.innerHTML = document.documentElement.innerHTML`),
  ],
  [
    'removes its root and adds another one later',
    run(`document.documentElement.remove();
      setTimeout(() => document.append(new DOMParser().parseFromString('<p>x', 'text/html').documentElement), 50)`),
  ],
  [
    'writes its document twice, with the snippet in it',
    run(`const html = document.documentElement.outerHTML;
      for (let i = 0; i < 2; i++) { document.open(); document.write(html); document.close(); }`),
  ],
];

describe('a widget whose page', () => {
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

  const widgets = ({ page }: ChatPage) =>
    page.evaluate(() => {
      const found = [...document.querySelectorAll('chat-widget')];
      return found.map(({ shadowRoot }) => shadowRoot !== null);
    });
  const answer = async (tab: ChatPage, body: string) => {
    await tab.send(`A question (${visit})`);
    const conversation = await chat.desk.conversationWith(`A question (${visit})`);
    await conversation.reply('The first answer');
    await conversation.waitForStatus('The first answer', 'READ');
    return { conversation, reply: () => conversation.reply(body) };
  };
  const statusOf = async (conversation: Awaited<ReturnType<typeof answer>>['conversation'], body: string) =>
    (await conversation.messages()).find((message) => message.body === body)!.delivery.status;

  it.each(CHANGES)('%s is back with its launcher (public report 48)', async (_name, change) => {
    const tab = await device.visit();
    await tab.launcher.waitFor();
    const place = await tab.launcher.boundingBox();
    await change(tab.page);
    await tab.launcher.waitFor({ timeout: 5000 });
    expect(await widgets(tab)).toEqual([true]);
    // Without its styles, the button would be wider.
    expect(await tab.launcher.boundingBox()).toEqual(place);
    await tab.open();
    await tab.send(`After the change (${visit})`);
  });

  it.each(CHANGES)('%s is back with its open chat and draft (public report 48)', async (_name, change) => {
    const tab = await device.chatAt();
    const { conversation, reply } = await answer(tab, 'The second answer');
    await tab.composer.fill('Half a sen');
    await change(tab.page);
    await tab.composer.waitFor({ timeout: 5000 });
    expect(await tab.composer.inputValue()).toBe('Half a sen');
    expect(await widgets(tab)).toEqual([true]);
    await reply();
    await tab.waitFor('The second answer', 'received');
    await conversation.waitForStatus('The second answer', 'READ');
    await tab.composer.pressSequentially('tence');
    await tab.composer.press('Enter');
    await tab.waitFor('Half a sentence', 'sent');
    await tab.close();
    await tab.open();
    await device.context.setOffline(true);
    await tab.notice.filter({ hasText: 'You are offline' }).waitFor();
  });

  it('removes it again and again gets it back at most twice a second', async () => {
    const tab = await device.chatAt();
    await run(`window.added = 0;
      window.remover = new MutationObserver(() => {
        const widget = document.querySelector('chat-widget');
        if (widget) added += 1;
        widget?.remove();
      });
      remover.observe(document, { childList: true, subtree: true });
      document.querySelector('chat-widget').remove()`)(tab.page);
    await letTimePass(3000);
    const added = await tab.page.evaluate('remover.disconnect(); added');
    expect(added).toBeLessThan(10);
    await tab.composer.waitFor({ timeout: 5000 });
    expect(await widgets(tab)).toEqual([true]);
  });

  it('has the script twice before its body shows one', async () => {
    const tab = await device.visit('/twice');
    await tab.launcher.waitFor();
    await tab.page.waitForLoadState('networkidle');
    expect(await widgets(tab)).toEqual([true]);
  });

  it('gives the site key in the address of the script alone works (public report 57)', async () => {
    const tab = await device.visit('/tag-manager');
    await tab.open();
    await tab.send(`From a tag manager (${visit})`);
  });

  it('loads the script as a module, which has no currentScript, works', async () => {
    const tab = await device.visit('/module');
    await tab.open();
    await tab.send(`From a module (${visit})`);
  });

  it('scrolls by itself, and forbids to select and to paste, leaves the chat alone (chatwoot#954)', async () => {
    const tab = await device.chatAt();
    const { page } = tab;
    await page.addStyleTag({ content: 'html, body { user-select: none }' });
    await run(`for (const name of ['wheel', 'touchmove', 'mousedown', 'selectstart', 'copy', 'paste'])
      document.addEventListener(name, (event) => event.preventDefault(), { passive: false })`)(page);
    for (let line = 1; line <= 12; line++) await tab.send(`Line ${line} (${visit})`);
    const newest = (await tab.message(`Line 12 (${visit})`).locator('.bubble').boundingBox())!;
    await page.mouse.dblclick(newest.x + newest.width / 2, newest.y + newest.height / 2);
    const selected = () =>
      page.evaluate(() => {
        const shadow = document.querySelector('chat-widget')!.shadowRoot as unknown as Document;
        return shadow.getSelection()!.toString();
      });
    expect(await selected()).not.toBe('');
    const scrollTop = () => tab.log.evaluate((log) => log.scrollTop);
    const atEnd = await scrollTop();
    await page.mouse.wheel(0, -100);
    await waitFor('the log to scroll', async () => (await scrollTop()) < atEnd);
    const isPasted = await tab.composer.evaluate((field) =>
      field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true })),
    );
    expect(isPasted).toBe(true);
  });

  it('keeps the focus in its dialog leaves it to the chat (mui/material-ui#16849)', async () => {
    const tab = await device.visit();
    await run(`const field = document.querySelector('input');
      document.addEventListener('focusin', ({ target }) => target !== field && field.focus())`)(tab.page);
    await tab.open();
    await tab.composer.click();
    await tab.page.keyboard.type('Typed in the chat');
    expect(await tab.composer.inputValue()).toBe('Typed in the chat');
  });

  it.each(['print', 'screen'] as const)('is shown on the medium %s (public report 53)', async (media) => {
    const tab = await device.chatAt();
    await tab.page.emulateMedia({ media });
    expect(await tab.panel.isVisible()).toBe(media === 'screen');
    expect(await tab.launcherOf('Close chat').isVisible()).toBe(media === 'screen');
  });

  it.each([
    'body { filter: grayscale(1) }',
    'body { transform: scale(0.5) rotate(3deg) }',
    'body { backdrop-filter: blur(2px); perspective: 100px; contain: strict }',
    'body { zoom: 2; opacity: 0.2; overflow: hidden; height: 100vh }',
    'html { filter: invert(1) }',
  ])('has the styles %s does not move it (public report 58)', async (styles) => {
    const tab = await device.chatAt();
    await tab.page.mouse.move(0, 0);
    const boxes = async () => {
      await tab.comeToRest();
      return [await tab.panel.boundingBox(), await tab.launcherOf('Close chat').boundingBox()];
    };
    const before = await boxes();
    await tab.page.evaluate(() => (document.querySelector('main')!.style.height = '3000px'));
    await tab.page.addStyleTag({ content: styles });
    await tab.page.evaluate(() => scrollTo(0, 500));
    expect(await boxes()).toEqual(before);
  });

  const HIDDEN: [name: string, hide: string, show: string][] = [
    [
      'covers it',
      `const cover = document.createElement('div'); cover.id = 'cover';
        cover.style = 'position:fixed;inset:0;z-index:2147483647;background:#fff'; document.documentElement.append(cover)`,
      `document.getElementById('cover').remove()`,
    ],
    [
      'opens a modal dialog',
      `const dialog = document.createElement('dialog'); document.body.append(dialog); dialog.showModal()`,
      `document.querySelector('dialog').remove()`,
    ],
    [
      'is not displayed',
      `document.documentElement.style.display = 'none'`,
      `document.documentElement.style.display = ''`,
    ],
    [
      'is transparent',
      `document.documentElement.style.opacity = '0'`,
      `document.documentElement.style.opacity = ''`,
    ],
    [
      'is scaled to nothing',
      `document.documentElement.style.transform = 'scale(0)'`,
      `document.documentElement.style.transform = ''`,
    ],
    [
      'puts it behind itself',
      `document.body.style = 'position:fixed;inset:0;background:#fff';
        document.querySelector('chat-widget').style.setProperty('--chat-z-index', '-1')`,
      `document.querySelector('chat-widget').style.setProperty('--chat-z-index', '1')`,
    ],
    [
      'keeps it out of its document',
      `window.keeper = new MutationObserver(() => document.querySelector('chat-widget')?.remove());
        keeper.observe(document, { childList: true, subtree: true }); document.querySelector('chat-widget').remove()`,
      `keeper.disconnect()`,
    ],
  ];
  it.each(HIDDEN)('%s has an answer READ only afterwards (public report 49)', async (_name, hide, show) => {
    const tab = await device.chatAt();
    const { conversation, reply } = await answer(tab, 'Nobody sees this');
    await run(hide)(tab.page);
    await reply();
    await conversation.waitForStatus('Nobody sees this', 'DELIVERED');
    await letTimePass(2500);
    expect(await statusOf(conversation, 'Nobody sees this')).toBe('DELIVERED');
    await run(show)(tab.page);
    await conversation.waitForStatus('Nobody sees this', 'READ');
  });

  it('is a frame out of view has an answer READ only in view (public report 49)', async () => {
    const { page } = await device.visit('/framed');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Open chat' }).click();
    const composer = frame.getByRole('textbox', { name: 'Message', exact: true });
    await composer.fill(`From a frame (${visit})`);
    await composer.press('Enter');
    const conversation = await chat.desk.conversationWith(`From a frame (${visit})`);
    await page.evaluate(() => scrollTo(0, 3000));
    await conversation.reply('Out of view');
    await conversation.waitForStatus('Out of view', 'DELIVERED');
    await letTimePass(2500);
    expect(await statusOf(conversation, 'Out of view')).toBe('DELIVERED');
    await page.evaluate(() => scrollTo(0, 0));
    await conversation.waitForStatus('Out of view', 'READ');
    await waitFor('nothing unread', async () => (await frame.locator('.badge').count()) === 0);
  });
});
