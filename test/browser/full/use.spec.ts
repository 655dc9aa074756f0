import { BrowserContextOptions } from 'playwright-core';
import { waitFor } from '../../support/wait';
import { accessibilityFaults } from '../accessibility';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { PHONE } from '../phone';
import { DeskConversation } from '../support-desk';

/** Tests of the use by keyboard, with assistive technology, on phones, and from right to left. */

jest.setTimeout(120_000);

describe('the chat can be used', () => {
  let chat: LiveChat;
  let device: Device | null = null;
  let visit = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(() => {
    visit += 1;
  });
  afterEach(() => device?.close());

  async function visitShop(options: BrowserContextOptions = {}, path?: string, commands?: unknown[][]) {
    device = await chat.device(options);
    const visitor = await device.visit(path, commands);
    await visitor.page.locator('chat-widget').getByRole('button').first().waitFor();
    return visitor;
  }
  /** Sends a visitor's question and an agent's answer, and waits until the page shows the answer. */
  async function converse(visitor: ChatPage): Promise<DeskConversation> {
    await visitor.send(`Is this fresh? (${visit})`);
    const conversation = await chat.desk.conversationWith(`Is this fresh? (${visit})`);
    await conversation.reply('Picked today: https://shop.example/tea');
    await visitor.waitFor('Picked today', 'received');
    return conversation;
  }
  /** Returns the accessible name of the element with the focus, also inside shadow roots. */
  const focusOf = ({ page }: ChatPage) =>
    page.evaluate(() => {
      let focused = document.activeElement;
      while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
      return focused?.getAttribute('aria-label') ?? focused?.textContent ?? '';
    });
  const boxOf = async (visitor: ChatPage, part: 'launcher' | 'panel' | 'composer' | 'sendButton') =>
    (await visitor[part].boundingBox())!;

  it('with the keyboard alone', async () => {
    const visitor = await visitShop();
    const { keyboard } = visitor.page;
    await waitFor('the launcher to have the focus', async () => {
      if (/Open chat/.test(await focusOf(visitor))) return true;
      await keyboard.press('Tab');
      return false;
    });
    await keyboard.press('Enter');
    await visitor.composer.waitFor();
    await waitFor('the composer to have the focus', async () =>
      visitor.composer.evaluate(
        (composer) => (composer.getRootNode() as ShadowRoot).activeElement === composer,
      ),
    );
    await keyboard.type('First line');
    await keyboard.press('Shift+Enter');
    await keyboard.type(`second line (${visit})`);
    await keyboard.press('Enter');
    await visitor.waitFor(`second line (${visit})`, 'sent');
    const conversation = await chat.desk.conversationWith(`First line\nsecond line (${visit})`);
    await conversation.reply('Answered');
    await visitor.waitFor('Answered', 'received');
    expect(await visitor.composer.inputValue()).toBe('');
    await keyboard.press('Enter');
    await keyboard.type('   ');
    await keyboard.press('Enter');
    expect(await visitor.shown()).toHaveLength(2);

    const reached = new Set<string>();
    for (let presses = 0; presses < 12; presses++) {
      await keyboard.press('Shift+Tab');
      reached.add(await focusOf(visitor));
    }
    expect([...reached]).toEqual(expect.arrayContaining([expect.stringContaining('Close chat')]));
    await visitor.composer.focus();
    await keyboard.press('Escape');
    await visitor.panel.waitFor({ state: 'hidden' });
    await waitFor('the launcher to have the focus again', async () =>
      /Open chat/.test(await focusOf(visitor)),
    );
    await keyboard.press('Space');
    await visitor.composer.waitFor();
  });

  it('with an unread count in the name of its button', async () => {
    const visitor = await visitShop();
    await visitor.open();
    const conversation = await converse(visitor);
    await visitor.close();
    expect(await visitor.launcher.getAttribute('aria-expanded')).toBe('false');
    await conversation.reply('One more thing');
    await visitor.page
      .locator('chat-widget')
      .getByRole('button', { name: 'Open chat, 1 unread message', exact: true })
      .waitFor();
    await conversation.reply('And another');
    await visitor.page
      .locator('chat-widget')
      .getByRole('button', { name: 'Open chat, 2 unread messages', exact: true })
      .waitFor();
    expect(await accessibilityFaults(visitor)).toEqual([]);
    await visitor.open();
    await conversation.waitForStatus('And another', 'READ');
  });

  const themes = [
    ['light', 'light'],
    ['dark', 'dark'],
  ] as const;
  const screens: [string, BrowserContextOptions][] = [
    ['a desktop', {}],
    ['a phone', PHONE],
  ];
  describe.each(themes)('in the %s theme', (_, colorScheme) => {
    describe.each(screens)('on %s', (__, screen) => {
      const options = { ...screen, colorScheme };

      it('without a fault that axe finds', async () => {
        const visitor = await visitShop(options);
        expect(await accessibilityFaults(visitor)).toEqual([]);
        await visitor.open();
        expect(await accessibilityFaults(visitor)).toEqual([]);
        await converse(visitor);
        expect(await accessibilityFaults(visitor)).toEqual([]);
        chat.network.refuseMessages(1);
        await visitor.write('Refused');
        await visitor.waitFor('Refused', 'failed');
        await visitor.message('Refused').getByText('Not sent').waitFor();
        expect(await accessibilityFaults(visitor)).toEqual([]);
        await device!.context.setOffline(true);
        await visitor.notice
          .filter({ hasText: 'You are offline. Messages are sent when you are back.' })
          .waitFor();
        await visitor.write('Later');
        await visitor.message('Later').getByText('Sending…').waitFor();
        expect(await accessibilityFaults(visitor)).toEqual([]);
        await device!.context.setOffline(false);
      });

      it('with the form, without a fault that axe finds', async () => {
        const form = { name: 'required', email: 'required' };
        const visitor = await visitShop(options, '/shop', [['set', { form }]]);
        await visitor.launcher.click();
        const start = visitor.panel.getByRole('button', { name: 'Start chat' });
        await start.waitFor();
        expect(await accessibilityFaults(visitor)).toEqual([]);
        await start.click();
        expect(await accessibilityFaults(visitor)).toEqual([]);
      });
    });
  });

  it('with every colour forced', async () => {
    const visitor = await visitShop({ forcedColors: 'active' });
    await visitor.open();
    await converse(visitor);
    const hasEdge = (part: 'panel' | 'composer' | 'sendButton') =>
      visitor[part].evaluate((element) => {
        const { borderTopWidth, borderTopStyle, outlineStyle } = getComputedStyle(element);
        return (parseFloat(borderTopWidth) > 0 && borderTopStyle !== 'none') || outlineStyle !== 'none';
      });
    for (const part of ['panel', 'composer', 'sendButton'] as const) expect(await hasEdge(part)).toBe(true);
    // The browser paints other colours than axe computes.
    const faults = (await accessibilityFaults(visitor)).filter(
      (fault) => !fault.startsWith('color-contrast'),
    );
    expect(faults).toEqual([]);
  });

  it('without motion', async () => {
    const visitor = await visitShop({ reducedMotion: 'reduce' });
    await visitor.open();
    const longest = await visitor.page.evaluate(() => {
      const root = document.querySelector('chat-widget')!.shadowRoot!;
      const secondsOf = (list: string) => Math.max(...list.split(',').map((each) => parseFloat(each)));
      return Math.max(
        ...[...root.querySelectorAll('*')].map((element) => {
          const { transitionDuration, animationDuration, animationName } = getComputedStyle(element);
          return Math.max(
            secondsOf(transitionDuration),
            animationName === 'none' ? 0 : secondsOf(animationDuration),
          );
        }),
      );
    });
    expect(longest).toBeLessThanOrEqual(0.001);
  });

  it('from right to left, as the mirror of left to right', async () => {
    const leftToRight = await visitShop();
    await leftToRight.open();
    await leftToRight.comeToRest();
    const [panel, composer, send] = await Promise.all(
      (['panel', 'composer', 'sendButton'] as const).map((part) => boxOf(leftToRight, part)),
    );
    await device!.close();
    const rightToLeft = await visitShop({}, '/arabic');
    await rightToLeft.open();
    await rightToLeft.comeToRest();
    const [panelThere, composerThere, sendThere] = await Promise.all(
      (['panel', 'composer', 'sendButton'] as const).map((part) => boxOf(rightToLeft, part)),
    );
    expect(send!.x).toBeGreaterThan(composer!.x);
    expect(sendThere!.x).toBeLessThan(composerThere!.x);
    const toTheRight = send!.x + send!.width - panel!.x;
    expect(panelThere!.x + panelThere!.width - sendThere!.x).toBeCloseTo(toTheRight, 0);
    await rightToLeft.send(`هل هذا الشاي طازج؟ (${visit})`);
    const own = (await rightToLeft.message('هل هذا الشاي').boundingBox())!;
    expect(own.x + own.width / 2).toBeLessThanOrEqual(panelThere!.x + panelThere!.width / 2);
    expect(await accessibilityFaults(rightToLeft)).toEqual([]);
  });

  it('on the side that the page wants', async () => {
    const right = await visitShop();
    expect((await boxOf(right, 'launcher')).x).toBeGreaterThan(640);
    await device!.close();
    const left = await visitShop({}, '/shop', [['set', { position: 'left' }]]);
    await waitFor('the launcher on the left', async () => (await boxOf(left, 'launcher')).x < 200);
  });

  it('in German', async () => {
    const visitor = await visitShop({ locale: 'de-DE' }, '/german');
    const widget = visitor.page.locator('chat-widget');
    await widget.getByRole('button').click();
    await widget.getByRole('dialog').waitFor();
    await waitFor('German', async () => /Nachricht/.test(await widget.getByRole('dialog').innerHTML()));
    expect(await widget.getByRole('dialog').innerHTML()).not.toMatch(/Message|Send\b|Close/);
    expect(await accessibilityFaults(visitor)).toEqual([]);
  });

  it('on the whole screen of a phone, above its keyboard', async () => {
    const visitor = await visitShop(PHONE);
    await visitor.open();
    await converse(visitor);
    const { width, height } = PHONE.viewport;
    expect(await boxOf(visitor, 'panel')).toEqual({ x: 0, y: 0, width, height });
    const fontSize = await visitor.composer.evaluate((composer) =>
      parseFloat(getComputedStyle(composer).fontSize),
    );
    expect(fontSize).toBeGreaterThanOrEqual(16);
    for (const part of ['closeButton', 'sendButton'] as const) {
      const box = (await visitor[part].boundingBox())!;
      expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
    }
    await visitor.page.setViewportSize({ width, height: height / 2 });
    await waitFor('the composer above the keyboard', async () => {
      const { y, height: ownHeight } = await boxOf(visitor, 'composer');
      return y >= 0 && y + ownHeight <= height / 2;
    });
    // Nothing behind the dialog can be reached.
    for (let presses = 0; presses < 12; presses++) {
      await visitor.page.keyboard.press('Tab');
      expect(await visitor.page.evaluate(() => document.activeElement?.tagName)).toBe('CHAT-WIDGET');
    }
  });

  it('on a page that is hostile to it, in its place and size', async () => {
    const visitor = await visitShop({}, '/hostile');
    const launcher = await boxOf(visitor, 'launcher');
    expect(Math.min(launcher.width, launcher.height)).toBeGreaterThanOrEqual(44);
    const { width, height } = visitor.page.viewportSize()!;
    expect(launcher.x).toBeGreaterThan(width - 150);
    expect(launcher.y).toBeGreaterThan(height - 150);
    await visitor.open();
    await visitor.composer.focus();
    await visitor.page.keyboard.type('hotkeys');
    expect(await visitor.composer.inputValue()).toBe('hotkeys');
    expect(
      await visitor.page.evaluate(() => (window as unknown as { shortcuts: string[] }).shortcuts),
    ).toEqual([]);
    const look = await visitor.composer.evaluate((composer) => {
      const { fontSize, letterSpacing, textTransform, direction, opacity } = getComputedStyle(composer);
      return { isLegible: parseFloat(fontSize) >= 13, letterSpacing, textTransform, direction, opacity };
    });
    expect(look).toEqual({
      isLegible: true,
      letterSpacing: 'normal',
      textTransform: 'none',
      direction: 'ltr',
      opacity: '1',
    });
  });

  it('with links that are safe, and text that is only text', async () => {
    const visitor = await visitShop();
    await visitor.open();
    const conversation = await converse(visitor);
    await conversation.reply(
      '<img src=x onerror="window.broken=1"> javascript:alert(1) https://shop.example/?q=<b>&x=1 mail@shop.example',
    );
    await visitor.waitFor('onerror', 'received');
    const links = await visitor.log.getByRole('link').evaluateAll((all) =>
      all.map((link) => ({
        protocol: (link as HTMLAnchorElement).protocol,
        rel: link.getAttribute('rel'),
        target: link.getAttribute('target'),
      })),
    );
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      expect(link.protocol).toMatch(/^(https?|mailto):$/);
      expect(link.rel).toContain('noopener');
      expect(link.rel).toContain('noreferrer');
    }
    expect(await visitor.log.locator('img').count()).toBe(0);
    expect(await visitor.page.evaluate(() => 'broken' in window)).toBe(false);
  });

  it('with its limit counted in characters as the service counts them', async () => {
    const visitor = await visitShop();
    await visitor.open();
    const longest = '🍵'.repeat(4096);
    await visitor.composer.fill(`${longest}!`);
    await visitor.composer.press('Enter');
    expect(await visitor.shown()).toHaveLength(0);
    await visitor.composer.fill(longest);
    await visitor.composer.press('Enter');
    await visitor.waitFor(longest, 'sent');
  });
});
