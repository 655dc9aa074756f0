import { BrowserContextOptions } from 'playwright-core';
import { waitFor } from '../../support/wait';
import { accessibilityFaults } from '../accessibility';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { PHONE } from '../phone';
import { DeskConversation } from '../support-desk';

/** Tests of messages that visitors edit and take back (public report 5). */

jest.setTimeout(120_000);

const MORE = 'Edit or delete';

describe('a visitor', () => {
  let chat: LiveChat;
  let device: Device;
  let visitor: ChatPage;
  let conversation: DeskConversation;
  let visit = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  afterEach(() => device.close());

  /** Opens the chat, where the visitor has asked two questions and got an answer. */
  async function converse(options: BrowserContextOptions = {}) {
    visit += 1;
    device = await chat.device(options);
    visitor = await device.chatAt();
    await visitor.send(`typo: 100 euro (${visit})`);
    await visitor.send('And the post?');
    conversation = await chat.desk.conversationWith(`typo: 100 euro (${visit})`);
    await conversation.reply('Which tea do you mean?');
    await visitor.waitFor('Which tea', 'received');
  }
  const button = (name: string) => visitor.panel.getByRole('button', { name, exact: true });
  const moreOf = (text: string) => visitor.message(text).getByRole('button', { name: MORE });
  const editor = () => visitor.panel.getByRole('textbox', { name: 'Editing a message' });
  const bodies = async () => (await conversation.messages()).map(({ body }) => body);
  const focusOf = () =>
    visitor.page.evaluate(() => {
      const { activeElement } = document.querySelector('chat-widget')!.shadowRoot!;
      return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? '';
    });

  it('edits a message with the mouse, and the draft stays', async () => {
    await converse();
    const tab = await device.chatAt();
    await tab.waitFor('typo', 'sent');
    await visitor.composer.fill('Half a sentence');
    await visitor.message('typo').hover();
    await moreOf('typo').click();
    await button('Edit').click();
    expect(await editor().inputValue()).toBe(`typo: 100 euro (${visit})`);
    await editor().fill(`corrected: 10 euro (${visit})`);
    await button('Save').click();
    await visitor.message('corrected').getByText('Edited').waitFor();
    await tab.message('corrected').getByText('Edited').waitFor();
    expect(await visitor.composer.inputValue()).toBe('Half a sentence');
    expect(await bodies()).toEqual([
      `corrected: 10 euro (${visit})`,
      'And the post?',
      'Which tea do you mean?',
    ]);
    await visitor.reload();
    await visitor.message('corrected').getByText('Edited').waitFor();
    expect(visitor.errors).toEqual([]);
  });

  it('takes a message back with the keyboard alone, and gives an edit up', async () => {
    await converse();
    const { keyboard } = visitor.page;
    await visitor.composer.focus();
    await keyboard.press('Shift+Tab');
    expect(await focusOf()).toBe(MORE);
    await keyboard.press('ArrowUp');
    await keyboard.press('Enter');
    await keyboard.press('Tab');
    expect(await focusOf()).toBe('Edit');
    await keyboard.press('Enter');
    expect(await focusOf()).toBe('Editing a message');
    await keyboard.type(' and more');
    await keyboard.press('Escape');
    expect(await focusOf()).toBe('Message');
    await keyboard.press('Shift+Tab');
    await keyboard.press('ArrowUp');
    await keyboard.press('Enter');
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    expect(await focusOf()).toBe('Delete');
    await keyboard.press('Enter');
    await visitor.message('This message was deleted.').waitFor();
    expect(await focusOf()).toBe('Message');
    expect(await bodies()).toEqual(['', 'And the post?', 'Which tea do you mean?']);
    expect(await moreOf('This message was deleted.').count()).toBe(0);
    await visitor.reload();
    await visitor.message('This message was deleted.').waitFor();
  });

  it('is told when a change did not arrive, and what was written stays', async () => {
    await converse();
    await device.context.setOffline(true);
    await moreOf('typo').click();
    await button('Edit').click();
    await editor().fill('corrected');
    await editor().press('Enter');
    await visitor.notice.filter({ hasText: 'The message was not changed' }).waitFor();
    expect(await editor().inputValue()).toBe('corrected');
    await device.context.setOffline(false);
    await editor().press('Enter');
    await visitor.message('corrected').getByText('Edited').waitFor();
    expect(await bodies()).toContain('corrected');
  });

  it('does so during no composition of an input method (public report 61)', async () => {
    await converse();
    await moreOf('typo').click();
    await button('Edit').click();
    for (const init of [{ isComposing: true }, { keyCode: 229 }])
      for (const key of ['Enter', 'Escape'])
        await editor().evaluate(
          (field, given) =>
            field.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, composed: true, ...given })),
          { key, ...init },
        );
    expect(await editor().inputValue()).toBe(`typo: 100 euro (${visit})`);
    expect(await bodies()).toContain(`typo: 100 euro (${visit})`);
  });

  it.each([
    ['a desktop', 'light', {}],
    ['a phone', 'dark', PHONE],
  ] as const)('sees what can be done on %s, %s', async (_, colorScheme, screen) => {
    await converse({ ...screen, colorScheme });
    await moreOf('typo').click();
    await button('Delete').click();
    await visitor.message('This message was deleted.').waitFor();
    await moreOf('And the post').click();
    await visitor.comeToRest();
    expect(await moreOf('And the post').evaluate((more) => getComputedStyle(more).opacity)).toBe('1');
    expect(await accessibilityFaults(visitor)).toEqual([]);
    const folder = process.env['PICTURES'];
    if (folder) await visitor.page.screenshot({ path: `${folder}/menu-${colorScheme}.png` });
    await button('Edit').click();
    await editor().fill('And the postage?');
    expect(await accessibilityFaults(visitor)).toEqual([]);
    if (folder) await visitor.page.screenshot({ path: `${folder}/edit-${colorScheme}.png` });
    await button('Save').click();
    await visitor.message('And the postage?').getByText('Edited').waitFor();
    if (folder) await visitor.page.screenshot({ path: `${folder}/edited-${colorScheme}.png` });
    await waitFor('the agents to see it', async () => (await bodies()).includes('And the postage?'));
  });

  it('meets one error in the log of a page whose script has no address', async () => {
    device = await chat.device();
    const page = await device.context.newPage();
    const logged: string[] = [];
    page.on('console', (message) => message.type() === 'error' && logged.push(message.text()));
    page.on('pageerror', (error) => logged.push(String(error)));
    await page.goto(`${chat.pages.origin}/inline`);
    await page.locator('html[data-after]').waitFor();
    expect(logged.filter((text) => !text.includes('favicon'))).toEqual([
      expect.stringMatching(/^chatWidget: the script needs src/),
    ]);
  });
});
