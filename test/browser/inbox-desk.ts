import { resolve } from 'node:path';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { ServiceProcess } from '../support/service-process';
import { TcpProxy } from '../support/tcp-proxy';
import { TestDashboard } from '../support/test-dashboard';
import { InboxPage } from './inbox-page';
import { LiveChat } from './live-chat';
import { Network } from './network';

const MAIN = resolve(__dirname, '../../dashboard/dist/server/main.js');

/**
 * The dashboard of a live chat: a process that can be killed, with a network of its own before it and behind
 * it, to PostgreSQL.
 */
export class InboxDesk {
  /** Cookies of each agent who has logged in. */
  private readonly cookies = new Map<string, Map<string, string>>();

  private constructor(
    private readonly chat: LiveChat,
    readonly network: Network,
    readonly database: TcpProxy,
    private process: ServiceProcess,
  ) {}

  static async beside(chat: LiveChat): Promise<InboxDesk> {
    const database = await TcpProxy.start(chat.office.stores.databaseUrl);
    const process = await startDashboard(chat, database);
    return new InboxDesk(chat, await Network.to(process.url), database, process);
  }

  /** Opens the browser of an agent in a conversation. */
  async enter(
    workspace: WorkspaceEntity,
    agent: AgentEntity,
    conversation: { id: string },
  ): Promise<InboxPage> {
    if (!this.cookies.has(agent.id)) this.cookies.set(agent.id, await this.logIn(agent));
    const cookies = this.cookies.get(agent.id)!;
    const context = await this.chat.browser.newContext({
      baseURL: this.network.url,
      locale: 'en-GB',
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
    });
    const scope = { domain: '127.0.0.1', path: '/', httpOnly: true };
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, ...scope })));
    const page = new InboxPage(await context.newPage(), `/w/${workspace.slug}/inbox/${conversation.id}`);
    await page.open();
    return page;
  }

  private async logIn(agent: AgentEntity): Promise<Map<string, string>> {
    const logins = await TestDashboard.create(this.chat.office.stores);
    try {
      return (await logins.logIn(agent)).cookies;
    } finally {
      await logins.close();
    }
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.process.exited;
  }

  async start(): Promise<void> {
    this.process = await startDashboard(this.chat, this.database);
    this.network.switchTo(this.process.url);
  }
}

function startDashboard({ office, redis }: LiveChat, database: TcpProxy): Promise<ServiceProcess> {
  const stores = { ...office.stores, databaseUrl: database.address, redisUrl: redis.url };
  const env = { APP_URL: 'http://localhost:3100', TRUST_PROXY: 'loopback' };
  return ServiceProcess.start('api', stores, env, { main: MAIN });
}
