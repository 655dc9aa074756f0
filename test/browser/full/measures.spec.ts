import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CDPSession, Page } from 'playwright-core';
import { markdownTable, print } from '../../support/report';
import { waitFor } from '../../support/wait';
import { LiveChat, START_TIMEOUT_MS } from '../live-chat';

/**
 * Measurements of the widget's cost for a page. Times depend on the machine, so they are printed beside the
 * goal.
 */

const WIDGET = resolve(__dirname, '../../../dist/widget');
const ROUNDS = 7;
/** DevTools' "slow 4G", in bytes a second. */
const SLOW_4G = {
  offline: false,
  latency: 562.5,
  downloadThroughput: (1.6e6 * 0.9) / 8,
  uploadThroughput: (0.75e6 * 0.9) / 8,
};
const SLOWER_CPU = 4;
const WAIT_MS = 60_000;

jest.setTimeout(300_000);

interface Moments {
  scriptArrived: number;
  launcher: number;
  asked?: number;
  composer?: number;
}

interface Cost {
  busyMs: number;
  scriptMs: number;
}

describe('what the widget costs', () => {
  let chat: LiveChat;
  const rows: string[][] = [];

  beforeAll(async () => {
    chat = await LiveChat.start();
    addSizes();
  }, START_TIMEOUT_MS);
  afterAll(() => print(`\n${markdownTable(['Measure', 'Goal', 'Measured'], rows)}\n`));

  /** Adds the sizes of the built files. `built-files.spec.ts` asserts their limits. */
  function addSizes(): void {
    const files = readdirSync(resolve(WIDGET, 'assets')).filter((file) => file.endsWith('.js'));
    for (const file of ['v1.js', ...files.map((one) => `assets/${one}`)]) {
      const { length } = gzipSync(readFileSync(resolve(WIDGET, file)), { level: 9 });
      rows.push([`${file}, gzipped`, '', `${(length / 1000).toFixed(2)} kB`]);
    }
  }

  /** Repeats a measurement, each in a new browser, after one that only warms up. */
  async function repeat<T>(measure: (page: Page, cdp: CDPSession) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const device = await chat.device();
      const page = await device.context.newPage();
      const result = await measure(page, await device.context.newCDPSession(page));
      if (round > 0) results.push(result);
      await device.close();
    }
    return results;
  }
  const slowDown = (cdp: CDPSession) => cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU });
  const shop = (page: Page, path = '/shop') => page.goto(chat.pages.origin + path);

  it('one request before the chat is opened', async () => {
    const device = await chat.device();
    const { length } = chat.network.requests;
    const { page, launcher } = await device.visit();
    await launcher.waitFor();
    await page.waitForLoadState('networkidle');
    const requests = chat.network.requests.slice(length);
    rows.push(['requests before the first open', '1', String(requests.length)]);
    expect(requests).toHaveLength(1);
    await device.close();
  });

  it.each([
    ['launcher painted after its script arrived', '< 100 ms', false],
    [`the same, processor ${SLOWER_CPU} times slower`, '', true],
  ])('%s', async (name, goal, isSlow) => {
    const times = await repeat(async (page, cdp) => {
      if (isSlow) await slowDown(cdp);
      await page.addInitScript(watch);
      await shop(page);
      const { scriptArrived, launcher } = await momentsWith(page, 'launcher');
      return launcher - scriptArrived;
    });
    rows.push([name, goal, spread(times)]);
  });

  it('little of the main thread', async () => {
    const costOf = (path: string, part: 'nothing' | 'launcher' | 'composer') =>
      repeat(async (page, cdp): Promise<Cost> => {
        await slowDown(cdp);
        // The metrics count the page's own time, and not the time that other processes take.
        await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.addInitScript(useQuietly, part);
        await shop(page, path);
        await page.evaluate(() => (window as unknown as Watched).finished);
        const { metrics } = await cdp.send('Performance.getMetrics');
        const msOf = (name: string) => metrics.find((metric) => metric.name === name)!.value * 1000;
        return { busyMs: msOf('TaskDuration'), scriptMs: msOf('ScriptDuration') + msOf('V8CompileDuration') };
      });
    const without = await costOf('/without-widget', 'nothing');
    const busyWithout = median(without.map(({ busyMs }) => busyMs));
    const scriptWithout = median(without.map(({ scriptMs }) => scriptMs));
    for (const [name, goal, part] of [
      ['with the launcher', '', 'launcher'],
      ['until the composer is usable', '< 50 ms', 'composer'],
    ] as const) {
      const costs = await costOf('/shop', part);
      const busy = costs.map(({ busyMs }) => busyMs - busyWithout);
      rows.push([`main thread, processor ${SLOWER_CPU} times slower, ${name}`, goal, spread(busy)]);
      rows.push(['- of it script', '', spread(costs.map(({ scriptMs }) => scriptMs - scriptWithout))]);
    }
  });

  it('little time until the composer is usable on slow 4G', async () => {
    const times = await repeat(async (page, cdp) => {
      await page.addInitScript(watch);
      await shop(page);
      await momentsWith(page, 'launcher');
      // The network is slow from the click on: the page itself has loaded before.
      await cdp.send('Network.enable');
      await cdp.send('Network.emulateNetworkConditions', SLOW_4G);
      await page.evaluate(openChat);
      const { asked, composer } = await momentsWith(page, 'composer');
      return composer! - asked!;
    });
    rows.push(['composer usable on slow 4G, after the click', '< 1 s', spread(times)]);
  });
});

interface Watched {
  moments: Moments;
  finished: Promise<void>;
  chatWidget: { open(): void };
}

/**
 * Runs in the page, and records in `moments` when the launcher and the composer are first shown. It looks at
 * each frame, so that a moment is one that a person could see.
 */
function watch(): void {
  const moments: Moments = { scriptArrived: 0, launcher: 0 };
  Object.assign(window, { moments });
  const isShown = (element: Element | null | undefined) => (element?.getBoundingClientRect().height ?? 0) > 0;
  const look = () => {
    const root = document.querySelector('chat-widget')?.shadowRoot;
    if (!moments.launcher && isShown(root?.querySelector('button'))) {
      const [script] = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/v1.js'));
      moments.scriptArrived = (script as PerformanceResourceTiming).responseEnd;
      moments.launcher = performance.now();
    }
    if (moments.asked && isShown(root?.querySelector('textarea:enabled')))
      moments.composer = performance.now();
    if (!moments.composer) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/**
 * Runs in the page: opens the chat for `composer`, and resolves `finished` when the part has been there for
 * half a second. It looks rarely, because looking costs time too.
 */
function useQuietly(part: 'nothing' | 'launcher' | 'composer'): void {
  const LOOK_MS = 50;
  const REST_LOOKS = 10;
  const sought = { nothing: 'body', launcher: 'button', composer: 'textarea:enabled' }[part];
  const finished = new Promise<void>((resolve) => {
    addEventListener('load', () => {
      if (part === 'composer') (window as unknown as Watched).chatWidget.open();
      let looksSince = 0;
      setInterval(() => {
        const root = part === 'nothing' ? document : document.querySelector('chat-widget')?.shadowRoot;
        if (root?.querySelector(sought) && ++looksSince > REST_LOOKS) resolve();
      }, LOOK_MS);
    });
  });
  Object.assign(window, { finished });
}

function openChat(): void {
  const { moments, chatWidget } = window as unknown as Watched;
  moments.asked = performance.now();
  chatWidget.open();
}

async function momentsWith(page: Page, name: 'launcher' | 'composer'): Promise<Moments> {
  const moments = () => page.evaluate(() => (window as unknown as Watched).moments);
  await waitFor(`the ${name}`, async () => (await moments())[name], WAIT_MS);
  return moments();
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function spread(values: number[]): string {
  const ms = (value: number) => value.toFixed(0);
  return `${ms(median(values))} ms (${ms(Math.min(...values))} to ${ms(Math.max(...values))})`;
}
