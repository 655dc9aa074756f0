import { letTimePass, waitFor } from '../../support/wait';
import { InboxDesk } from '../inbox-desk';
import { InboxPage } from '../inbox-page';
import { LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { DeskConversation } from '../support-desk';

/** Time in which the page shows a message without a stream: it reads every five seconds. */
const POLLED_MS = 10_000;
/** Time that is too short for a page that only reads every five seconds, five times in turn. */
const LIVE_MS = 1_500;
/** Time after which a page opens a silent stream again. */
const NOTICED_MS = 60_000;

/** Tests of an inbox behind a proxy that holds streams back, as some do until an answer ends. */
describe('an inbox behind a proxy that buffers', () => {
  let chat: LiveChat;
  let desk: InboxDesk;
  let conversation: DeskConversation;
  let agent: InboxPage;
  let count = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
    desk = await InboxDesk.beside(chat);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await agent?.close();
  });

  /** Returns the milliseconds from a customer's message to its place on the page. */
  async function showNext(): Promise<number> {
    const text = `Question ${++count}.`;
    await chat.office.make.received(chat.workspace, conversation, text);
    const begin = performance.now();
    await agent.page.locator('article').filter({ hasText: text }).waitFor();
    return performance.now() - begin;
  }

  it.each(['events', 'everything'] as const)(
    'that holds back %s, shows messages within ten seconds, and at once when the proxy is gone',
    async (heldBack) => {
      const visitor = await chat.device();
      await (await visitor.chatAt('/shop')).send(`Behind a proxy, ${heldBack}`);
      conversation = await chat.desk.conversationWith(`Behind a proxy, ${heldBack}`);
      await visitor.close();
      desk.network.holdBackStreams(heldBack);
      agent = await desk.enter(chat.workspace, await chat.office.make.agent(chat.workspace), conversation);
      await waitFor('the stream', () => desk.network.openStreams);
      for (let n = 0; n < 3; n++) {
        expect(await showNext()).toBeLessThan(POLLED_MS);
        await letTimePass(1_000);
      }

      // The connection of before is still held back: the page must notice that it hears nothing.
      desk.network.heal();
      const isLive = async () => {
        const times: number[] = [];
        for (let n = 0; n < 5; n++) times.push(await showNext());
        return Math.max(...times) < LIVE_MS;
      };
      await waitFor('a stream that lives', isLive, NOTICED_MS);
      expect(agent.errors).toEqual([]);
      await agent.close();
    },
    180_000,
  );
});
