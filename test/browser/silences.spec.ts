import { Page } from 'playwright-core';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { InboxDesk } from './inbox-desk';
import { InboxPage } from './inbox-page';
import { ChatPage } from './chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from './live-chat';
import { DeskConversation } from './support-desk';
import { ServiceProcess } from '../support/service-process';
import { TcpProxy } from '../support/tcp-proxy';
import { waitFor } from '../support/wait';
import { testSilences } from '../silences/silences';

const TEST_TIMEOUT_MS = 240_000;
/** Time in which a page notices a fault, or its end: silence is noticed after 40 seconds. */
const NOTICED_MS = 75_000;
const AWAY = 'The service cannot be reached';

/** Scenarios of the table of silences that a person sees in a browser. */
describe('in a browser', () => {
  let chat: LiveChat;
  let desk: InboxDesk;
  let device: Device;
  let owner: AgentEntity;
  let lin: AgentEntity;
  let visits = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
    desk = await InboxDesk.beside(chat);
    owner = await chat.office.make.agent(chat.workspace);
    lin = await chat.office.make.agent(chat.workspace, { role: 'AGENT' });
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
    visits += 1;
  });
  afterEach(() => device.close());

  /** Opens the chat of a visitor who has written and got an answer. */
  async function visit(): Promise<{ visitor: ChatPage; conversation: DeskConversation }> {
    const visitor = await device.chatAt();
    await visitor.send(`Good morning ${visits}`);
    const conversation = await chat.desk.conversationWith(`Good morning ${visits}`);
    await conversation.reply(`Welcome ${visits}`);
    await visitor.waitFor(`Welcome ${visits}`, 'received');
    return { visitor, conversation };
  }
  /** Opens the inbox of a person at a conversation of a new visitor. */
  async function work(agent: AgentEntity): Promise<{ inbox: InboxPage; visitor: ChatPage }> {
    const { visitor, conversation } = await visit();
    return { inbox: await desk.enter(chat.workspace, agent, conversation), visitor };
  }
  /** Opens a page of the settings for an owner. */
  async function manage(): Promise<InboxPage> {
    const { inbox } = await work(owner);
    await inbox.page.goto(`/w/${chat.workspace.slug}/settings/overview`);
    await inbox.page.getByRole('heading', { level: 1 }).waitFor();
    return inbox;
  }
  const notice = (page: Page) => page.getByRole('alert').filter({ hasText: AWAY });
  const waitForNotice = (page: Page) => notice(page).waitFor({ timeout: NOTICED_MS });
  const waitForEndOfNotice = (page: Page) => notice(page).waitFor({ state: 'detached', timeout: NOTICED_MS });

  /** Lets an owner be told of a fault on a page of the settings, and of its end. */
  async function expectNoticeForOwner(fault: Fault): Promise<void> {
    const inbox = await manage();
    await fault.begin(inbox.page);
    await waitForNotice(inbox.page);
    await fault.end(inbox.page);
    await waitForEndOfNotice(inbox.page);
    await inbox.close();
  }

  /** Lets an agent be told of a fault in the inbox, and of a reply that waits until its end. */
  async function expectNoticeForAgent(fault: Fault): Promise<void> {
    const { inbox, visitor } = await work(lin);
    await fault.begin(inbox.page);
    await waitForNotice(inbox.page);
    const text = `In between ${visits}`;
    await inbox.reply(text);
    const reply = inbox.page.locator('article[data-unsent]').filter({ hasText: text });
    await reply.getByText('Not sent').waitFor();
    await fault.end(inbox.page);
    await waitForEndOfNotice(inbox.page);
    await visitor.waitFor(text, 'received', NOTICED_MS);
    await reply.waitFor({ state: 'detached' });
    await inbox.close();
  }

  /** Lets a visitor be told of a fault in words, while a message waits until its end. */
  async function expectLineForVisitor(line: string, fault: Fault): Promise<void> {
    const { visitor, conversation } = await visit();
    await fault.begin(visitor.page);
    const text = `In between ${visits}`;
    await visitor.write(text);
    const told = visitor.notice.filter({ hasText: line });
    await told.waitFor({ timeout: NOTICED_MS });
    await fault.end(visitor.page);
    await visitor.waitFor(text, 'sent', NOTICED_MS);
    await told.waitFor({ state: 'hidden', timeout: NOTICED_MS });
    expect((await conversation.messages()).filter(({ body }) => body === text)).toHaveLength(1);
  }

  const offline: Fault = {
    begin: (page) => page.context().setOffline(true),
    end: (page) => page.context().setOffline(false),
  };
  const withoutDatabase = (database: TcpProxy): Fault => ({
    begin: () => database.cut(),
    end: () => database.restore(),
  });

  testSilences(
    'browser',
    {
      'stream: agent': async () => {
        const { inbox, visitor } = await work(lin);
        await waitFor('a stream', () => desk.network.openStreams > 0);
        await inbox.page.route('**/inbox/stream', (route) => route.abort());
        desk.network.killStreams();
        await visitor.send(`Without a stream ${visits}`);
        await inbox.page
          .locator('article')
          .filter({ hasText: 'Without a stream' })
          .waitFor({ timeout: NOTICED_MS });
        expect(desk.network.openStreams).toBe(0);
        await inbox.page.unroute('**/inbox/stream');
        await waitFor('the stream', () => desk.network.openStreams > 0, NOTICED_MS);
        await inbox.close();
      },

      'stream: visitor': async () => {
        const { visitor, conversation } = await visit();
        await waitFor('a stream', () => chat.network.openStreams > 0);
        await visitor.page.route('**/events', (route) => route.abort());
        chat.network.killStreams();
        await conversation.reply('Without a stream');
        await visitor.waitFor('Without a stream', 'received', NOTICED_MS);
        expect(chat.network.openStreams).toBe(0);
        await visitor.page.unroute('**/events');
        await waitFor('the stream', () => chat.network.openStreams > 0, NOTICED_MS);
      },

      'postgresql: owner': async () => {
        const { database, network } = desk;
        const status = async () => (await fetch(`${network.url}/health/ready`)).status;
        const { begin, end } = withoutDatabase(database);
        await expectNoticeForOwner({
          begin: async (page) => {
            await begin(page);
            await waitFor('a process that is not ready', async () => (await status()) === 503);
          },
          end,
        });
        expect(await status()).toBe(200);
      },

      'postgresql: agent': () => expectNoticeForAgent(withoutDatabase(desk.database)),

      'postgresql: visitor': async () => {
        const { stores } = chat.office;
        const database = await TcpProxy.start(stores.databaseUrl);
        const api = await ServiceProcess.start(
          'api',
          { ...stores, databaseUrl: database.address, redisUrl: chat.redis.url },
          { TRUST_PROXY: 'loopback' },
        );
        await chat.stopApi();
        chat.network.switchTo(api.url);
        await expectLineForVisitor('No connection to the chat', withoutDatabase(database));
        await chat.startApi();
      },

      'network: owner': () => expectNoticeForOwner(offline),

      'network: agent': () => expectNoticeForAgent(offline),

      'network: visitor': () => expectLineForVisitor('You are offline', offline),
    },
    TEST_TIMEOUT_MS,
  );
});

/** Fault of a part, which begins and ends while a page is open. */
interface Fault {
  begin: (page: Page) => Promise<void>;
  end: (page: Page) => Promise<void>;
}
