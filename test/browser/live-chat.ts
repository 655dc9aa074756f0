import { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { OwnRedis } from '../support/own-redis';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { TestStores } from '../support/test-database';
import { TestWidget } from '../support/widget';
import { ChatPage } from './chat-page';
import { launchChromium } from './chromium';
import { Network } from './network';
import { ShopPages } from './shop-pages';
import { SupportDesk } from './support-desk';

/** Time to start. Chromium may have to be installed first. */
export const START_TIMEOUT_MS = 240_000;
/** Number of requests that the agents may make a minute. They ask often whether a message has arrived. */
const NO_RATE_LIMIT = 100_000;

/**
 * The whole stage: shop pages in Chromium, the network, an API process for visitors that can be killed, and
 * the office, a process that stays and has the agents' API and the worker.
 */
export class LiveChat {
  private constructor(
    readonly redis: OwnRedis,
    readonly office: TestService,
    readonly workspace: WorkspaceEntity,
    readonly desk: SupportDesk,
    readonly widget: TestWidget,
    readonly network: Network,
    readonly pages: ShopPages,
    readonly browser: Browser,
    private process: ServiceProcess,
  ) {}

  static async start(): Promise<LiveChat> {
    const browser = await launchChromium();
    const [redis, pages] = await Promise.all([OwnRedis.start(), ShopPages.start()]);
    const office = await TestService.create({ role: 'all', env: { REDIS_URL: redis.url } });
    const tenant = await createTenant(office, office.make.workspace({ rateLimit: NO_RATE_LIMIT }));
    const widget = await TestWidget.connect(office, tenant.workspace, [pages.origin, pages.insecureOrigin]);
    const process = await startApi({ ...office.stores, redisUrl: redis.url });
    const network = await Network.to(process.url);
    pages.show({ service: network.url, siteKey: widget.siteKey });
    const desk = new SupportDesk(office, tenant);
    return new LiveChat(redis, office, tenant.workspace, desk, widget, network, pages, browser, process);
  }

  /** Opens a browser of one person: its tabs share what is stored. */
  async device(options: BrowserContextOptions = {}): Promise<Device> {
    this.network.changeAddress();
    return new Device(this, await this.browser.newContext({ locale: 'en-GB', ...options }));
  }

  async killApi(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.process.exited;
  }

  /** Stops the API with SIGTERM, as an upgrade does. */
  async stopApi(): Promise<void> {
    this.process.kill('SIGTERM');
    await this.process.exited;
  }

  async startApi(): Promise<void> {
    this.process = await startApi({ ...this.office.stores, redisUrl: this.redis.url });
    this.network.switchTo(this.process.url);
  }
}

/** A browser of one person. */
export class Device {
  constructor(
    private readonly chat: LiveChat,
    readonly context: BrowserContext,
  ) {}

  /**
   * Opens a tab with a page of the shop.
   * @param commands calls of the page to the widget before the widget is loaded
   */
  async visit(path = '/shop', commands: unknown[][] = []): Promise<ChatPage> {
    const page = await this.context.newPage();
    await page.addInitScript((queued) => {
      if (queued.length > 0) Object.assign(window, { chatWidget: queued });
    }, commands);
    const chatPage = new ChatPage(page);
    await page.goto(path.startsWith('http') ? path : this.chat.pages.origin + path);
    return chatPage;
  }

  /** Opens a tab with the chat open. */
  async chatAt(path?: string, commands?: unknown[][]): Promise<ChatPage> {
    const page = await this.visit(path, commands);
    await page.open();
    return page;
  }

  /** Kills the tab's process at once, as when the machine runs out of memory. */
  async crash({ page }: ChatPage): Promise<void> {
    const session = await this.context.newCDPSession(page);
    const crashed = page.waitForEvent('crash');
    session.send('Page.crash').catch(() => undefined); // the tab can't answer any more
    await crashed;
    await page.close();
  }

  /**
   * Freezes a tab: nothing runs in it, though it keeps its connections and locks. Returns a function that
   * lets it go on.
   */
  async freeze({ page }: ChatPage): Promise<() => Promise<void>> {
    const session = await this.context.newCDPSession(page);
    await session.send('Debugger.enable');
    const paused = new Promise((resolve) => session.once('Debugger.paused', resolve));
    // The debugger answers when the tab goes on, if it ever does.
    page.evaluate('debugger').catch(() => undefined);
    await paused;
    return () => session.detach();
  }

  /** Shifts the clock of tabs that are opened later. The clock goes on at its pace. */
  async shiftClock(offsetMs: number): Promise<void> {
    await this.context.addInitScript((ms) => {
      const RightDate = Date;
      const shifted = Object.assign(window, { clockOffsetMs: ms });
      const now = () => RightDate.now() + shifted.clockOffsetMs;
      window.Date = new Proxy(RightDate, {
        apply: () => new RightDate(now()).toString(),
        construct: (target, given: [], newTarget) =>
          Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
        get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
      });
    }, offsetMs);
  }

  /**
   * Forbids storage to tabs that are opened later: access throws at once, as with blocked cookies, or fails
   * later.
   */
  async refuseStorage(how: 'throws' | 'fails'): Promise<void> {
    await this.context.addInitScript((throws) => {
      const refuse = () => {
        throw new DOMException('Access is denied for this document.', 'SecurityError');
      };
      if (throws) {
        for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
          Object.defineProperty(window, name, { get: refuse });
        return;
      }
      Storage.prototype.setItem = () => {
        throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
      };
      IDBFactory.prototype.open = () => {
        const request = new EventTarget();
        setTimeout(() => {
          const error = new DOMException('The user denied permission.', 'UnknownError');
          Object.defineProperty(request, 'error', { value: error });
          const event = new Event('error');
          (request as IDBOpenDBRequest).onerror?.call(request as IDBOpenDBRequest, event);
          request.dispatchEvent(event);
        }, 5);
        return request as IDBOpenDBRequest;
      };
    }, how === 'throws');
  }

  /** Returns what the pages of the shop stored in the browser. */
  stored(page: Page): Promise<{ keys: string[]; databases: string[]; cookies: string }> {
    return page.evaluate(async () => ({
      keys: [...Object.keys(localStorage), ...Object.keys(sessionStorage)],
      databases: (await indexedDB.databases()).map(({ name }) => name ?? ''),
      cookies: document.cookie,
    }));
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

function startApi(stores: TestStores): Promise<ServiceProcess> {
  return ServiceProcess.start('api', stores, { TRUST_PROXY: 'loopback' });
}
