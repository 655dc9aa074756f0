import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { AgentRole } from '../../src/access/permissions';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { PASSWORD, TestDashboard } from '../support/test-dashboard';
import { launchChromium } from './chromium';

const BUILT_PAGE = resolve(__dirname, '../../dashboard/dist/web/index.html');
/** Regular expression of browser messages that tests provoke: refusals, and a dashboard that is down. */
const MEANT = /status of (400|401|403|404|409|429|503)|net::ERR_(INTERNET_DISCONNECTED|CONNECTION_)/;

/** The dashboard with its built pages, the service with a worker, a receiver of webhooks, and Chromium. */
export class DashboardInBrowser {
  private readonly opened: DashboardPage[] = [];

  private constructor(
    readonly service: TestService,
    readonly dashboard: TestDashboard,
    readonly receiver: Receiver,
    private readonly chromium: Browser,
  ) {}

  static async start(): Promise<DashboardInBrowser> {
    if (!existsSync(BUILT_PAGE)) throw new Error('The pages are missing: run "npm run build" first.');
    const chromium = await launchChromium();
    const receiver = await Receiver.start();
    const service = await TestService.create({ role: 'all' });
    const dashboard = await TestDashboard.create(service.stores, { PUBLIC_URL: service.baseUrl });
    return new DashboardInBrowser(service, dashboard, receiver, chromium);
  }

  /** Opens a person's browser, not logged in. */
  async open(options: BrowserContextOptions & { dashboard?: TestDashboard } = {}): Promise<DashboardPage> {
    const { dashboard = this.dashboard, ...rest } = options;
    const context = await this.chromium.newContext({
      locale: 'en-GB',
      timezoneId: 'UTC',
      baseURL: dashboard.baseUrl,
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
      ...rest,
    });
    const opened = new DashboardPage(context, await context.newPage());
    this.opened.push(opened);
    return opened;
  }

  /** Opens the browser of a new agent, logged in. */
  async enter(
    workspace: WorkspaceEntity,
    role: AgentRole = 'OWNER',
    options: BrowserContextOptions & { dashboard?: TestDashboard } = {},
  ): Promise<AgentPage> {
    const agent = await this.service.make.agent(workspace, { role });
    const opened = await this.open(options);
    await opened.adopt(await this.dashboard.logIn(agent));
    return Object.assign(opened, { agent });
  }

  /** Closes the pages that were opened since the last call, and returns their errors until then. */
  async closePages(): Promise<string[]> {
    const pages = this.opened.splice(0);
    const errors = pages.flatMap((page) => page.errors);
    for (const page of pages) await page.close();
    return errors;
  }

  /** Returns the texts of the agents' replies in a conversation, oldest first. */
  async repliesIn(workspace: { id: string }, conversation: { id: string }): Promise<string[]> {
    const replies = await this.service.query<{ body: string }>(
      `SELECT body FROM messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND sender_type = 'AGENT' ORDER BY id`,
      [workspace.id, conversation.id],
    );
    return replies.map(({ body }) => body);
  }

  /** Creates an agent with a password. */
  async agentWithPassword(workspace: WorkspaceEntity): Promise<AgentEntity> {
    const agent = await this.service.make.agent(workspace);
    await this.dashboard.logIn(agent);
    return agent;
  }
}

/** A tab of an agent who is logged in. */
export type AgentPage = DashboardPage & { agent: AgentEntity };

/** A tab with the dashboard, as a person sees it. */
export class DashboardPage {
  /** Errors of the page, except the refusals that a test provokes. */
  readonly errors: string[] = [];

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    page.on('pageerror', ({ message }) => this.errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !MEANT.test(message.text())) this.errors.push(message.text());
    });
  }

  /** Copies the cookies of a client that has logged in, so that the browser is logged in too. */
  async adopt({ cookies }: { cookies: Map<string, string> }): Promise<void> {
    const scope = { domain: '127.0.0.1', path: '/', httpOnly: true };
    await this.context.addCookies([...cookies].map(([name, value]) => ({ name, value, ...scope })));
  }

  async logIn(email: string, password = PASSWORD): Promise<void> {
    await this.field('E-mail').fill(email);
    await this.field('Password').fill(password);
    await this.button('Log in').click();
  }

  /** Opens a page of the settings, such as `api-keys`. */
  async settings({ slug }: Pick<WorkspaceEntity, 'slug'>, path: string): Promise<void> {
    await this.page.goto(`/w/${slug}/settings/${path}`);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  text(text: string | RegExp): Locator {
    return this.page.getByText(text);
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** Returns the button with this name in the open dialog. */
  act(name: string): Locator {
    return this.dialog.getByRole('button', { name, exact: true });
  }

  row(text: string | RegExp): Locator {
    return this.page.getByRole('row').filter({ hasText: text });
  }

  /** Returns the row of an attempt on the page of a delivery. */
  attempt(number: number): Locator {
    return this.page.locator('summary').filter({ hasText: `Attempt ${number}` });
  }

  /** Returns the text of a block to copy, such as a key. */
  copied(label: string): Promise<string> {
    return this.page.getByRole('region', { name: label, exact: true }).innerText();
  }

  /** Waits until nothing loads any more. */
  async comeToRest(): Promise<void> {
    await this.page.getByRole('heading', { level: 1 }).waitFor();
    await this.page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
