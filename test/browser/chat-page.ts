import { Locator, Page } from 'playwright-core';
import { waitFor } from '../support/wait';
import { SampleFile } from './sample-files';

export type MessageState = 'sending' | 'sent' | 'failed' | 'received';

/** A message as the page shows it. */
export interface ShownMessage {
  /** Id of the message; until it is sent, the client's own id. */
  id: string;
  state: MessageState;
  /** Text of the whole element: body, sender, time and mark. */
  text: string;
}

const LOAD_TIMEOUT_MS = 15_000;
/** Widest screen that the chat fills. */
const PHONE_WIDTH = 480;
const HISTORY_TIMEOUT_MS = 60_000;

/** One tab with a page of the shop, used as a person uses it. */
export class ChatPage {
  readonly launcher: Locator;
  readonly panel: Locator;
  readonly composer: Locator;
  readonly sendButton: Locator;
  readonly closeButton: Locator;
  readonly log: Locator;
  readonly notice: Locator;
  /** Errors that the page's scripts threw or the browser logged. */
  readonly errors: string[] = [];

  constructor(readonly page: Page) {
    const widget = page.locator('chat-widget');
    this.launcher = widget.getByRole('button', { name: /^Open chat/ });
    this.panel = widget.getByRole('dialog');
    this.composer = this.panel.getByRole('textbox', { name: 'Message', exact: true });
    this.sendButton = this.panel.getByRole('button', { name: 'Send', exact: true });
    this.closeButton = this.panel.getByRole('button', { name: 'Close chat', exact: true });
    this.log = this.panel.getByRole('log', { name: 'Messages', exact: true });
    this.notice = this.panel.getByRole('status');
    page.setDefaultTimeout(LOAD_TIMEOUT_MS);
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) this.errors.push(message.text());
    });
  }

  /** The launcher, by its name at the moment. */
  launcherOf(name: string): Locator {
    return this.page.locator('chat-widget .launcher').and(this.page.getByRole('button', { name }));
  }

  async open(): Promise<void> {
    await this.launcher.click();
    await this.composer.waitFor();
  }

  /** Loads the page again, as a visitor does whose chat is open: on a phone it must be opened again. */
  async reload(): Promise<void> {
    await this.page.reload();
    if (this.page.viewportSize()!.width <= PHONE_WIDTH) await this.open();
    else await this.composer.waitFor();
  }

  /** Waits until nothing of the widget moves any more. */
  async comeToRest(): Promise<void> {
    await this.page.evaluate(async () => {
      const moving = document.querySelector('chat-widget')?.shadowRoot?.getAnimations() ?? [];
      const finite = moving.filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity);
      await Promise.allSettled(finite.map(({ finished }) => finished));
    });
  }

  async close(): Promise<void> {
    await this.closeButton.click();
    await this.panel.waitFor({ state: 'hidden' });
  }

  /** Types a message and presses Enter; waits until the page shows it. */
  async write(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press('Enter');
    await this.message(text).waitFor();
  }

  /** Writes a message, and waits until the service has it. */
  async send(text: string): Promise<void> {
    await this.write(text);
    await this.waitFor(text, 'sent');
  }

  /** Chooses files from the disk, and waits until the draft has them. */
  async choose(...files: SampleFile[]): Promise<void> {
    await this.panel.locator('input[type=file]').setInputFiles(files);
    await this.chosen(files.at(-1)!.name).waitFor();
  }

  /** File of the draft. */
  chosen(name: string): Locator {
    return this.panel.getByRole('list', { name: 'Files' }).locator('.chosen-file', { hasText: name });
  }

  /** First picture in a message that is drawn. */
  get drawn(): Locator {
    return this.page.locator('chat-widget .picture canvas[data-drawn]').first();
  }

  message(text: string): Locator {
    return this.log.locator('[data-message]', { hasText: text });
  }

  async waitFor(text: string, state: MessageState, timeoutMs?: number): Promise<void> {
    await waitFor(
      `"${text}" to be ${state}`,
      async () => (await this.shown()).some((one) => one.text.includes(text) && one.state === state),
      timeoutMs,
    );
  }

  /** Returns the messages in the page, oldest first. */
  shown(): Promise<ShownMessage[]> {
    return this.page.evaluate(() => {
      const root = document.querySelector('chat-widget')?.shadowRoot;
      return [...(root?.querySelectorAll<HTMLElement>('[data-message]') ?? [])].map((element) => ({
        id: element.dataset['message']!,
        state: element.dataset['state'] as MessageState,
        text: element.textContent,
      }));
    });
  }

  /** Scrolls to the beginning of the conversation, and returns all messages. */
  async readAll(): Promise<ShownMessage[]> {
    const earlier = this.panel.getByRole('button', { name: 'Earlier messages', exact: true });
    await waitFor(
      'the beginning of the conversation',
      async () => {
        if ((await earlier.count()) === 0) return true;
        await this.log.evaluate((log) => {
          const scroller = scrollerOf(log);
          scroller.scrollTop = 0;
          function scrollerOf(element: Element): Element {
            for (let at: Element | null = element; at; at = at.parentElement)
              if (at.scrollHeight > at.clientHeight + 1) return at;
            return element;
          }
        });
        return false;
      },
      HISTORY_TIMEOUT_MS,
    );
    return this.shown();
  }
}
