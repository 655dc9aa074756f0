import { waitFor } from '../../support/wait';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { expectSameMessages } from '../same-messages';

/** Tests of several tabs, of which one has the stream and sends for all. */

const TAKEN_OVER_MS = 10_000;

jest.setTimeout(180_000);

describe('of several tabs', () => {
  let chat: LiveChat;
  let device: Device;
  let visit = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
    visit += 1;
    await waitFor('no stream of an earlier test', () => chat.network.openStreams === 0);
  });
  afterEach(() => device.close());

  async function threeTabs() {
    const first = await device.chatAt();
    const question = `Who is there? (${visit})`;
    await first.send(question);
    const conversation = await chat.desk.conversationWith(question);
    const others = [await device.chatAt(), await device.chatAt()];
    for (const tab of others) await tab.waitFor(question, 'sent');
    return { first, others, conversation, question };
  }
  const oneStream = () => waitFor('exactly one stream', () => chat.network.openStreams === 1, TAKEN_OVER_MS);

  it('one has the stream, and all show what it carries', async () => {
    const { first, others, conversation, question } = await threeTabs();
    expect(chat.network.openStreams).toBe(1);
    await conversation.reply('To all of you');
    for (const tab of [first, ...others]) await tab.waitFor('To all of you', 'received');
    await expectSameMessages([first, ...others], conversation, [question]);
  });

  it('two that were open before the first message become one visitor', async () => {
    const [first, second] = [await device.chatAt(), await device.chatAt()];
    const texts = [`From the first tab (${visit})`, `From the second tab (${visit})`];
    await first.send(texts[0]!);
    await second.send(texts[1]!);
    const conversation = await chat.desk.conversationWith(texts[0]!);
    await expectSameMessages([first, second], conversation, texts);
  });

  it.each<[string, (tab: ChatPage) => Promise<void>]>([
    ['closes', (tab) => tab.page.close()],
    ['is killed', (tab) => device.crash(tab)],
    ['goes to another site', async (tab) => void (await tab.page.goto('about:blank'))],
  ])('another takes the stream over when its tab %s', async (_, end) => {
    const { first, others, conversation, question } = await threeTabs();
    await end(first);
    await oneStream();
    await conversation.reply('After the takeover');
    for (const tab of others) await tab.waitFor('After the takeover', 'received', TAKEN_OVER_MS);
    await others[0]!.send('Still here');
    await expectSameMessages(others, conversation, [question, 'Still here']);
  });

  it('another takes the stream over when its tab freezes, and the frozen one agrees when it is back', async () => {
    const { first, others, conversation, question } = await threeTabs();
    const thaw = await device.freeze(first);
    await conversation.reply('While one is frozen');
    for (const tab of others) await tab.waitFor('While one is frozen', 'received', TAKEN_OVER_MS);
    await others[1]!.send('Sent while one is frozen');
    await thaw();
    await expectSameMessages([first, ...others], conversation, [question, 'Sent while one is frozen']);
    await oneStream();
  });

  it('another takes the stream over when the script of its page hangs', async () => {
    const { first, others, conversation } = await threeTabs();
    const hung = first.page.evaluate(() => {
      const end = performance.now() + 15_000;
      while (performance.now() < end);
    });
    await conversation.reply('While one hangs');
    for (const tab of others) await tab.waitFor('While one hangs', 'received', TAKEN_OVER_MS);
    await hung;
    await first.waitFor('While one hangs', 'received');
    await oneStream();
  });

  it('a page that comes back from the history of its tab has the chat as it is', async () => {
    const { first, others, conversation, question } = await threeTabs();
    await first.page.goto(`${chat.pages.origin}/without-widget`);
    await conversation.reply('While you looked elsewhere');
    // A page that the browser had put aside comes without the event `load`.
    await first.page.goBack({ waitUntil: 'commit' });
    await first.composer.waitFor();
    await first.waitFor('While you looked elsewhere', 'received', TAKEN_OVER_MS);
    await expectSameMessages([first, ...others], conversation, [question]);
    await oneStream();
  });

  it('each shows the unread messages, until one has shown them', async () => {
    const { first, others, conversation } = await threeTabs();
    for (const tab of [first, ...others]) await tab.close();
    await conversation.reply('One');
    await conversation.reply('Two');
    for (const tab of [first, ...others])
      await waitFor('two unread', async () =>
        /2 unread messages/.test(
          (await tab.launcher.getAttribute('aria-label')) ?? (await tab.launcher.innerText()),
        ),
      );
    await others[0]!.open();
    await conversation.waitForStatus('Two', 'READ');
    for (const tab of [first, others[1]!])
      await waitFor(
        'none unread',
        async () => !/unread/.test((await tab.launcher.getAttribute('aria-label')) ?? ''),
      );
  });
});
