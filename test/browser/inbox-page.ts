import { Page } from 'playwright-core';
import { waitFor } from '../support/wait';

/** A message as the inbox shows it. */
export interface InboxMessage {
  body: string;
  /** Status of its delivery; null for a customer's message. */
  status: string | null;
  isUnsent: boolean;
}

const LOAD_TIMEOUT_MS = 15_000;
const HISTORY_TIMEOUT_MS = 60_000;
/** Time of what may meet a page that is just reading again. */
const PRESS_TIMEOUT_MS = 5_000;

/** A conversation in the inbox, used as an agent uses it. */
export class InboxPage {
  /** Errors that the page's scripts threw. */
  readonly errors: string[] = [];

  /** @param path address of the conversation */
  constructor(
    readonly page: Page,
    private readonly path: string,
  ) {
    page.setDefaultTimeout(LOAD_TIMEOUT_MS);
    page.on('pageerror', ({ message }) => this.errors.push(message));
  }

  async open(): Promise<void> {
    await this.page.goto(`${this.path}?view=all`);
    await this.page.locator('article').first().waitFor();
  }

  /** Goes back to the conversation if the page has left it for the next one or the list, as closing does. */
  private async goBack(): Promise<void> {
    while (!this.isHere()) await this.page.goBack();
  }

  private isHere(): boolean {
    return new URL(this.page.url()).pathname === this.path;
  }

  /** Loads the page again, until it comes. */
  async reload(): Promise<void> {
    await this.goBack();
    await waitFor(
      'the page to load again',
      async () => {
        const answer = await this.page.reload().catch(() => null);
        if (!answer?.ok()) return false;
        const message = this.page.locator('article').first();
        return message.waitFor({ timeout: PRESS_TIMEOUT_MS }).then(
          () => true,
          () => false,
        );
      },
      HISTORY_TIMEOUT_MS,
    );
  }

  /** Sends a reply by keys; waits until the page shows it. */
  async reply(text: string): Promise<void> {
    const field = this.page.getByLabel('Reply', { exact: true });
    await waitFor(
      'a field to write in',
      async () => {
        await this.goBack();
        // The page may just be leaving the conversation. It stays once something is written.
        return field.fill(text, { timeout: PRESS_TIMEOUT_MS }).then(
          () => this.isHere(),
          () => false,
        );
      },
      LOAD_TIMEOUT_MS,
    );
    await field.press('Control+Enter');
    await this.page.locator('article').filter({ hasText: text }).first().waitFor();
  }

  /** Closes the conversation, or opens it again. */
  async toggle(): Promise<void> {
    await this.goBack();
    const button = this.page.getByRole('button', { name: /^(Close|Reopen)$/ });
    // It may change its name while it is pressed.
    await button.click({ timeout: PRESS_TIMEOUT_MS }).catch(() => undefined);
  }

  /** Sends again what did not get to the server, until nothing is left. */
  async sendAllAgain(): Promise<void> {
    await this.goBack();
    const unsent = this.page.locator('article[data-unsent]');
    // A colleague may have replied since the message was written.
    const retries = unsent.getByRole('button', { name: /^(Try again|Send anyway)$/ });
    await waitFor(
      'each reply to be sent',
      async () => {
        if ((await unsent.count()) === 0) return true;
        if ((await retries.count()) > 0)
          await retries
            .first()
            .click({ timeout: PRESS_TIMEOUT_MS })
            .catch(() => undefined);
        return false;
      },
      HISTORY_TIMEOUT_MS,
    );
  }

  /** Returns the messages in the page, oldest first. */
  shown(): Promise<InboxMessage[]> {
    return this.page.$$eval('article[data-from]', (articles) =>
      articles.map((article) => ({
        body: article.querySelector('p')!.textContent,
        status: article.querySelector('[data-status]')?.getAttribute('data-status') ?? null,
        isUnsent: (article as HTMLElement).dataset['unsent'] !== undefined,
      })),
    );
  }

  /** Scrolls to the beginning of the conversation, and returns all messages. */
  async readAll(): Promise<InboxMessage[]> {
    await waitFor(
      'the beginning of the conversation',
      async () => {
        await this.goBack();
        const isWhole = await this.page.getByText('The conversation begins here').isVisible();
        if (!isWhole)
          await this.page
            .locator('article')
            .first()
            .scrollIntoViewIfNeeded()
            .catch(() => undefined);
        return isWhole;
      },
      HISTORY_TIMEOUT_MS,
    );
    return this.shown();
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
