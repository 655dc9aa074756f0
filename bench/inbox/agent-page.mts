import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { WrittenMessage } from './customers.mts';

/** CSS selectors of elements that must be on the screen, and of elements that must have left it. */
interface Shown {
  present?: string[];
  absent?: string[];
}

/** Times of a message, in milliseconds since 1970. */
type SeenMessage = WrittenMessage & { seen: number };

const ROW = '[data-conversation]';
const rowOf = (id: string) => `[data-conversation="${id}"]`;
const GIVE_UP_MS = 10_000;
/** Milliseconds after which nothing of an act is under way any more. */
const REST_MS = 600;

/** The inbox in a browser, as an agent uses it. Times run from an input to the frame that shows it. */
export class AgentPage {
  readonly errors: string[] = [];
  private replies = 0;

  private constructor(
    private readonly page: Page,
    private readonly slug: string,
  ) {
    page.on('pageerror', ({ message }) => this.errors.push(message));
  }

  static async open(browser: Browser, url: string, slug: string, cookie: string): Promise<AgentPage> {
    const context = await browser.newContext({
      baseURL: url,
      locale: 'en-GB',
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
    });
    const [name, value] = cookie.split('=') as [string, string];
    await context.addCookies([{ name, value, domain: 'localhost', path: '/', httpOnly: true }]);
    return new AgentPage(await context.newPage(), slug);
  }

  /** Opens the list with a filter, such as `view=all`. */
  async list(search: string): Promise<void> {
    await this.page.goto(`/w/${this.slug}/inbox?${search}`);
    await this.page.locator(ROW).first().waitFor();
    await sleep(REST_MS);
  }

  /** Opens the first conversations of the list, one after the other. */
  async openRows(count: number): Promise<number[]> {
    const times: number[] = [];
    for (let n = 1; n <= count; n++) times.push(await this.openRow(await this.idOfRow(n)));
    return times;
  }

  /** Switches between the views of the list. */
  async switchViews(count: number): Promise<number[]> {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const view = ['nobody', 'all'][n % 2]!;
      const link = `nav a[href*="view=${view}"]`;
      const shown = { present: [`${link}[aria-current]`, ROW], absent: ['section [aria-busy="true"]'] };
      times.push(await this.time('click', shown, () => this.page.locator(link).click()));
    }
    return times;
  }

  /** Loads the page of the list anew. */
  async load(count: number): Promise<number[]> {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      await this.page.goto('about:blank');
      const begin = performance.now();
      await this.page.goto(`/w/${this.slug}/inbox?view=all`, { waitUntil: 'commit' });
      await this.page.locator(ROW).first().waitFor();
      times.push(performance.now() - begin);
    }
    return times;
  }

  /** Assigns conversations of the list by the menu. */
  assign(count: number): Promise<number[]> {
    return this.act(count, async () => {
      await this.page.keyboard.press('a');
      await this.page.keyboard.type('Agent 12');
      const option = this.page.getByRole('option', { name: 'Agent 12', exact: true });
      const shown = { present: ['input[role="combobox"][value="Agent 12"]'], absent: ['[role="option"]'] };
      return this.time('click', shown, () => option.click());
    });
  }

  /** Closes conversations of the list by key. Each leaves the list. */
  closeByKey(count: number): Promise<number[]> {
    return this.act(count, (id) =>
      this.time('keydown', { absent: [rowOf(id)] }, () => this.page.keyboard.press('e')),
    );
  }

  /** Snoozes conversations of the list by the menu. Each leaves the list. */
  snooze(count: number): Promise<number[]> {
    return this.act(count, async (id) => {
      await this.page.getByRole('button', { name: 'Snooze' }).click();
      const item = this.page.getByRole('menuitem').first();
      return this.time('click', { absent: [rowOf(id)] }, () => item.click());
    });
  }

  /** Sends replies in conversations of the list. */
  reply(count: number): Promise<number[]> {
    return this.act(count, async () => {
      await this.page.keyboard.press('r');
      await this.page.keyboard.type(`Answer ${++this.replies}.`);
      await this.markOld();
      const shown = { present: ['article:not([data-old])'] };
      return this.time('keydown', shown, () => this.page.keyboard.press('Control+Enter'));
    });
  }

  /** Scrolls down the list until so many conversations are loaded. */
  loadRows(count: number): Promise<void> {
    return this.scrollUntil(ROW, () => this.loadedRows(), count, 1);
  }

  /** Scrolls up the open conversation until it has so many messages. */
  loadMessages(count: number): Promise<void> {
    return this.scrollUntil('article', () => this.page.locator('article').count(), count, -1);
  }

  /** Opens a conversation by its address. */
  async openAlone(id: string): Promise<void> {
    await this.page.goto(`/w/${this.slug}/inbox/${id}?view=nobody`);
    await this.page.locator('article').first().waitFor();
    await sleep(REST_MS);
  }

  /** Scrolls through the loaded items, a part of them a frame, and returns the times between the frames. */
  async scroll(item: 'row' | 'message', frames: number): Promise<number[]> {
    const selector = item === 'row' ? ROW : 'article';
    return this.page.evaluate(
      async ([selector, frames]) => {
        const { scroller, direction } = (
          window as unknown as { scrollerOf: (selector: string) => { scroller: Element; direction: number } }
        ).scrollerOf(selector);
        const times: number[] = [];
        let last = await new Promise<number>(requestAnimationFrame);
        const step = scroller.scrollHeight / frames;
        for (let n = 1; n <= frames; n++) {
          scroller.scrollTop = direction * (scroller.scrollHeight - n * step);
          const now = await new Promise<number>(requestAnimationFrame);
          times.push(now - last);
          last = now;
        }
        return times;
      },
      [selector, frames] as const,
    );
  }

  /** Moves through the list by J. */
  async moveByKey(count: number): Promise<number[]> {
    await this.page.locator(ROW).first().focus();
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const next = await this.page.evaluate((row) => {
        const rows = [...document.querySelectorAll(row)];
        return rows[rows.indexOf(document.activeElement!) + 1]!.getAttribute('data-conversation')!;
      }, ROW);
      times.push(
        await this.time('keydown', { present: [`${rowOf(next)}:focus`] }, () =>
          this.page.keyboard.press('j'),
        ),
      );
      await sleep(REST_MS / 6);
    }
    return times;
  }

  /** Waits until a message is shown, and returns when, in milliseconds since 1970. */
  async untilShown(text: string): Promise<number> {
    const shown = await this.page.waitForFunction(
      (text) => {
        const has = [...document.querySelectorAll('article')]
          .slice(-3)
          .some((one) => one.textContent.includes(text));
        return has && performance.timeOrigin + performance.now();
      },
      text,
      { polling: 'raf', timeout: GIVE_UP_MS * 3 },
    );
    return Number(await shown.jsonValue());
  }

  /** Opens a conversation of the list, and from then on notes when each customer's message is shown in it. */
  async watchMessages(): Promise<void> {
    await this.openRows(1);
    await this.page.evaluate(() => {
      const seen: Record<string, number> = {};
      Object.assign(window, { seen });
      let isWaiting = false;
      const look = () => {
        isWaiting = false;
        const texts = [...document.querySelectorAll('[data-conversation]')].map((row) => row.textContent);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          const at = performance.timeOrigin + performance.now();
          for (const text of texts) {
            const [question] = /Question \d+\./.exec(text) ?? [];
            if (question) seen[question] ??= at;
          }
        };
        port2.postMessage(null);
      };
      new MutationObserver(() => {
        if (!isWaiting) requestAnimationFrame(look);
        isWaiting = true;
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
  }

  /** Returns when messages, or later ones of the same customers, were shown. */
  async seenMessages(written: WrittenMessage[]): Promise<SeenMessage[]> {
    await sleep(2_000);
    const seen = await this.page.evaluate(() => (window as unknown as { seen: Record<string, number> }).seen);
    return written.flatMap((message, index) => {
      const later = written.slice(index).filter(({ writer }) => writer === message.writer);
      const times = later.map(({ text }) => seen[text]).filter((one) => one !== undefined);
      return times.length === 0 ? [] : [{ ...message, seen: Math.min(...times) }];
    });
  }

  private async scrollUntil(
    selector: string,
    countLoaded: () => Promise<number>,
    count: number,
    direction: number,
  ): Promise<void> {
    await this.page.evaluate(() => {
      const scrollerOf = (selector: string) => {
        let scroller = document.querySelector(selector)!.parentElement!;
        while (!/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement!;
        return {
          scroller,
          direction: getComputedStyle(scroller).flexDirection === 'column-reverse' ? -1 : 1,
        };
      };
      Object.assign(window, { scrollerOf });
    });
    for (let known = 0; ;) {
      const loaded = await countLoaded();
      if (loaded >= count) break;
      if (loaded === known) await sleep(10);
      known = loaded;
      await this.page.evaluate(
        ([selector, direction]) => {
          const { scroller } = (
            window as unknown as { scrollerOf: (selector: string) => { scroller: Element } }
          ).scrollerOf(selector);
          scroller.scrollTop = direction * scroller.scrollHeight;
        },
        [selector, direction] as const,
      );
    }
    await sleep(REST_MS);
  }

  /** Opens conversations of the list, unless an act has led to them, and acts in each once. */
  private async act(count: number, act: (id: string) => Promise<number>): Promise<number[]> {
    const times: number[] = [];
    const acted = new Set<string>();
    for (let n = 0; n < count; n++) {
      const id = (await this.rows()).find((one) => !acted.has(one));
      acted.add(id!);
      if (!(await this.page.$(`${rowOf(id!)}[aria-current="page"]`))) await this.openRow(id!);
      await sleep(REST_MS);
      times.push(await act(id!));
      await sleep(REST_MS);
    }
    return times;
  }

  private async openRow(id: string): Promise<number> {
    await this.markOld();
    const shown = { present: [`${rowOf(id)}[aria-current="page"]`, 'article:not([data-old])'] };
    const time = await this.time('click', shown, () => this.page.locator(rowOf(id)).click());
    await sleep(REST_MS / 3);
    return time;
  }

  private rows(): Promise<string[]> {
    return this.page.$$eval(ROW, (rows) => rows.map((row) => row.getAttribute('data-conversation')!));
  }

  /** Returns the conversation of the row at a place, counted from 1. Rows out of sight are not rendered. */
  private async idOfRow(place: number): Promise<string> {
    const row = this.page.locator(`[aria-posinset="${place}"] > ${ROW}`);
    if ((await row.count()) === 0) {
      await this.page
        .locator(ROW)
        .first()
        .evaluate((shown, place) => {
          const list = shown.closest('ul')!;
          list.parentElement!.scrollTop = (list.offsetHeight / Number(list.dataset.loaded)) * (place - 1);
        }, place);
    }
    return (await row.getAttribute('data-conversation'))!;
  }

  /** Returns the number of conversations that are loaded. */
  private async loadedRows(): Promise<number> {
    return Number(await this.page.locator('ul[data-loaded]').getAttribute('data-loaded'));
  }

  /** Marks the messages that are shown, so that new ones can be told from them. */
  private async markOld(): Promise<void> {
    await this.page.$$eval('article', (shown) => shown.forEach((one) => one.setAttribute('data-old', '')));
  }

  /** Returns the milliseconds from an input's event to the end of the frame in which all is as expected. */
  private async time(event: 'click' | 'keydown', shown: Shown, act: () => Promise<void>): Promise<number> {
    await this.page.evaluate(
      ([type, { present = [], absent = [] }, giveUpMs]) => {
        const isShown = () =>
          present.every((one) => document.querySelector(one)) &&
          !absent.some((one) => document.querySelector(one));
        const timed = new Promise<number>((resolve, reject) => {
          setTimeout(
            () => reject(new Error(`Not shown: ${present.join()} without ${absent.join()}`)),
            giveUpMs,
          );
          const begin = ({ timeStamp }: Event) => {
            // Control is pressed before Enter.
            const look = () => {
              if (!isShown()) return requestAnimationFrame(look);
              const { port1, port2 } = new MessageChannel();
              port1.onmessage = () => {
                document.removeEventListener(type, begin, true);
                resolve(performance.now() - timeStamp);
              };
              port2.postMessage(null);
              return undefined;
            };
            requestAnimationFrame(look);
          };
          document.addEventListener(type, begin, { capture: true });
        });
        Object.assign(window, { timed });
      },
      [event, shown, GIVE_UP_MS] as const,
    );
    await act();
    return this.page.evaluate(() => (window as unknown as { timed: Promise<number> }).timed);
  }
}
