import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CDPSession, Page } from 'playwright-core';
import { markdownTable, print } from '../../support/report';
import { waitFor } from '../../support/wait';
import { LiveChat, START_TIMEOUT_MS } from '../live-chat';

/** What the widget costs a page. Sizes are promised; times depend on the machine, so they are printed beside the goal. */

const WIDGET = resolve(__dirname, '../../../dist/widget');
const ROUNDS = 7;
/** As DevTools has it, in bytes a second. */
const SLOW_4G = {
  offline: false,
  latency: 562.5,
  downloadThroughput: (1.6e6 * 0.9) / 8,
  uploadThroughput: (0.75e6 * 0.9) / 8,
};
const SLOWER_CPU = 4;

jest.setTimeout(300_000);

interface Moments {
  scriptArrived: number;
  launcher: number;
  asked?: number;
  composer?: number;
}

describe('what the widget costs', () => {
  let chat: LiveChat;
  const rows: string[][] = [];

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    print(`\n${markdownTable(['Measure', 'Goal', 'Measured'], rows)}\n`);
    await chat.stop();
  });

  /** A page that notes by itself when the launcher and the composer are there, and opens the chat if it is to. */
  async function measure(
    path: string,
    { opens = false, prepare }: { opens?: boolean; prepare?: (cdp: CDPSession) => Promise<void> } = {},
  ): Promise<{ moments: Moments; busyMs: number; scriptMs: number }> {
    const device = await chat.device();
    try {
      const page = await device.context.newPage();
      const cdp = await device.context.newCDPSession(page);
      await cdp.send('Performance.enable');
      await prepare?.(cdp);
      await page.addInitScript(watch, opens);
      await page.goto(chat.pages.origin + path);
      const isWidget = path !== '/without-widget';
      await waitFor('the page', () => page.evaluate(hasFinished, isWidget), 60_000);
      const { metrics } = await cdp.send('Performance.getMetrics');
      const secondsOf = (name: string) => metrics.find((metric) => metric.name === name)!.value;
      const moments = isWidget ? await momentsOf(page) : { scriptArrived: 0, launcher: 0 };
      return {
        moments,
        busyMs: secondsOf('TaskDuration') * 1000,
        scriptMs: secondsOf('ScriptDuration') * 1000,
      };
    } finally {
      await device.close();
    }
  }

  const slowCpu = async (cdp: CDPSession) => {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU });
  };
  const repeat = async <T>(measureOnce: () => Promise<T>): Promise<T[]> => {
    await measureOnce(); // warms up
    const results: T[] = [];
    while (results.length < ROUNDS) results.push(await measureOnce());
    return results;
  };

  it('few bytes', () => {
    const sizeOf = (file: string) => gzipSync(readFileSync(resolve(WIDGET, file)), { level: 9 }).length;
    const loader = sizeOf('v1.js');
    const chunks = readdirSync(resolve(WIDGET, 'assets'))
      .filter((file) => file.endsWith('.js'))
      .map((file) => ({ file, size: sizeOf(`assets/${file}`) }));
    const all = chunks.reduce((sum, { size }) => sum + size, loader);
    const kB = (bytes: number) => `${(bytes / 1000).toFixed(2)} kB`;
    rows.push(['loader, gzipped', '≤ 3 kB', kB(loader)], ['everything, gzipped', '≤ 25 kB', kB(all)]);
    for (const { file, size } of chunks) rows.push([`- ${file}`, '', kB(size)]);
    expect(loader).toBeLessThanOrEqual(3_000);
    expect(all).toBeLessThanOrEqual(25_000);
  });

  it('one request before the chat is opened', async () => {
    const { length } = chat.network.requests;
    await measure('/shop');
    const requests = chat.network.requests.slice(length);
    rows.push(['requests before the first open', '1', String(requests.length)]);
    expect(requests).toHaveLength(1);
  });

  it('little time until the launcher is there', async () => {
    const times = (await repeat(() => measure('/shop'))).map(
      ({ moments: { scriptArrived, launcher } }) => launcher - scriptArrived,
    );
    rows.push(['launcher painted after its script arrived', '< 100 ms', spread(times)]);
    const slow = (await repeat(() => measure('/shop', { prepare: slowCpu }))).map(
      ({ moments: { scriptArrived, launcher } }) => launcher - scriptArrived,
    );
    rows.push([`the same, processor ${SLOWER_CPU} times slower`, '', spread(slow)]);
  });

  it('little of the main thread', async () => {
    const without = await repeat(() => measure('/without-widget', { prepare: slowCpu }));
    const closed = await repeat(() => measure('/shop', { prepare: slowCpu }));
    const opened = await repeat(() => measure('/shop', { prepare: slowCpu, opens: true }));
    const base = median(without.map(({ busyMs }) => busyMs));
    const baseScript = median(without.map(({ scriptMs }) => scriptMs));
    for (const [name, goal, measured] of [
      ['launcher', '', closed],
      ['until the composer is usable', '< 50 ms', opened],
    ] as const) {
      rows.push([
        `main thread, processor ${SLOWER_CPU} times slower, ${name}`,
        goal,
        spread(measured.map(({ busyMs }) => busyMs - base)),
      ]);
      rows.push(['- of it script', '', spread(measured.map(({ scriptMs }) => scriptMs - baseScript))]);
    }
  });

  it('little time until the composer is usable on slow 4G', async () => {
    // The network is slow from the click on: the page itself is there.
    const times = await repeat(async () => {
      const device = await chat.device();
      try {
        const page = await device.context.newPage();
        await page.addInitScript(watch, false);
        await page.goto(`${chat.pages.origin}/shop`);
        await waitFor('the launcher', () => page.evaluate(hasFinished, true));
        const cdp = await device.context.newCDPSession(page);
        await cdp.send('Network.enable');
        await cdp.send('Network.emulateNetworkConditions', SLOW_4G);
        await page.evaluate(openChat);
        await waitFor('the composer', () => page.evaluate(hasFinished, true), 60_000);
        const { asked, composer } = await momentsOf(page);
        return composer! - asked!;
      } finally {
        await device.close();
      }
    });
    rows.push(['composer usable on slow 4G, after the click', '< 1 s', spread(times)]);
  });
});

interface Watched {
  moments: Moments & { opens: boolean };
  chatWidget: { open(): void };
}

/** In the page: looks at each frame, so that a moment is one that a person could see. */
function watch(opens: boolean): void {
  const watched = window as unknown as Watched;
  watched.moments = { scriptArrived: 0, launcher: 0, opens };
  const isShown = (element: Element | null | undefined) => (element?.getBoundingClientRect().height ?? 0) > 0;
  const look = () => {
    const { moments } = watched;
    const root = document.querySelector('chat-widget')?.shadowRoot;
    if (!moments.launcher && isShown(root?.querySelector('button'))) {
      const [script] = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/v1.js'));
      moments.scriptArrived = (script as PerformanceResourceTiming).responseEnd;
      moments.launcher = performance.now();
      if (moments.opens) {
        moments.asked = performance.now();
        watched.chatWidget.open();
      }
    }
    const composer = root?.querySelector('textarea');
    if (moments.asked && !moments.composer && isShown(composer) && !composer!.disabled)
      moments.composer = performance.now();
    if (!moments.composer) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

function openChat(): void {
  const { moments, chatWidget } = window as unknown as Watched;
  moments.opens = true;
  moments.asked = performance.now();
  chatWidget.open();
}

function hasFinished(isWidget: boolean): boolean {
  const { moments } = window as unknown as Watched;
  if (!isWidget) return document.readyState === 'complete';
  return moments.opens ? moments.composer !== undefined : moments.launcher > 0;
}

function momentsOf(page: Page): Promise<Moments> {
  return page.evaluate(() => (window as unknown as Watched).moments);
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function spread(values: number[]): string {
  const ms = (value: number) => value.toFixed(0);
  return `${ms(median(values))} ms (${ms(Math.min(...values))} to ${ms(Math.max(...values))})`;
}
