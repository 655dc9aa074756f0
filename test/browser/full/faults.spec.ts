import { letTimePass, waitFor } from '../../support/wait';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { expectSameMessages } from '../same-messages';
import { DeskConversation } from '../support-desk';

/**
 * Tests of faults, one at a time. After each fault the visitor's pages and the API show the same messages.
 */

const TEST_TIMEOUT_MS = 300_000;
const MINUTE_MS = 60_000;
const TWO_HOURS_MS = 2 * 60 * MINUTE_MS;
/**
 * Time in which a client notices a fault: heartbeats, which show that events were lost, come every 15
 * seconds; silence is noticed after 40.
 */
const NOTICED_MS = 75_000;

jest.setTimeout(TEST_TIMEOUT_MS);

describe('nothing is lost or doubled by', () => {
  let chat: LiveChat;
  let device: Device;
  let written: string[];
  let person = 0;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
    written = [];
    person += 1;
  });
  afterEach(async () => {
    chat.network.heal();
    await device.close();
  });

  /** Returns a text that no other test writes. */
  const text = (words: string) => {
    written.push(`${words} (${person}.${written.length + 1})`);
    return written.at(-1)!;
  };

  async function begin(
    path?: string,
    on: Device = device,
  ): Promise<{ visitor: ChatPage; conversation: DeskConversation }> {
    const visitor = await on.chatAt(path);
    const first = text('Good morning');
    await visitor.send(first);
    const conversation = await chat.desk.conversationWith(first);
    await conversation.reply(`Welcome, visitor ${person}`);
    await visitor.waitFor(`Welcome, visitor ${person}`, 'received');
    return { visitor, conversation };
  }

  /** Sends a message each way, after the fault. */
  async function talkAgain(visitor: ChatPage, conversation: DeskConversation): Promise<void> {
    await conversation.reply('Are you still there?');
    await visitor.write(text('Still here'));
    await visitor.waitFor('Are you still there?', 'received', NOTICED_MS);
    await expectSameMessages([visitor], conversation, written);
  }

  it('a stream that is killed', async () => {
    const { visitor, conversation } = await begin();
    for (let times = 1; times <= 3; times++) {
      await waitFor('a stream', () => chat.network.openStreams === 1, NOTICED_MS);
      chat.network.killStreams();
      await conversation.reply(`In the gap ${times}`);
      await visitor.write(text('In the gap too'));
    }
    await talkAgain(visitor, conversation);
  });

  it('streams that fall silent', async () => {
    const { visitor, conversation } = await begin();
    chat.network.silenceStreams();
    await conversation.reply('Into the void');
    await visitor.write(text('Not into the void'));
    await visitor.waitFor('Into the void', 'received', NOTICED_MS);
    await talkAgain(visitor, conversation);
  });

  it('events that are dropped', async () => {
    const { visitor, conversation } = await begin();
    chat.network.dropMessages(true);
    const before = chat.network.droppedEvents;
    for (let count = 1; count <= 3; count++) await conversation.reply(`Dropped ${count}`);
    await visitor.waitFor('Dropped 3', 'received', NOTICED_MS);
    expect(chat.network.droppedEvents).toBeGreaterThan(before);
    chat.network.dropMessages(false);
    await talkAgain(visitor, conversation);
  });

  it('answers that are lost on the way', async () => {
    const { visitor, conversation } = await begin();
    const before = chat.network.lostAnswers;
    chat.network.loseAnswers(2);
    await visitor.write(text('Stored, but nobody says so'));
    await waitFor('two lost answers', () => chat.network.lostAnswers === before + 2, NOTICED_MS);
    await talkAgain(visitor, conversation);
  });

  it('a Redis that is wiped', async () => {
    const { visitor, conversation } = await begin();
    await chat.redis.kill();
    const reply = conversation.reply('Without Redis');
    await visitor.write(text('Without Redis too'));
    await chat.redis.restart();
    await reply;
    await talkAgain(visitor, conversation);
  });

  it('an API process that is killed under an open chat', async () => {
    const { visitor, conversation } = await begin();
    await chat.killApi();
    await visitor.write(text('To nobody'));
    await conversation.reply('From the office');
    await visitor.write(text('To nobody again'));
    await chat.startApi();
    await talkAgain(visitor, conversation);
  });

  it('an API process that stops in good order', async () => {
    const { visitor, conversation } = await begin();
    await chat.stopApi();
    await visitor.write(text('During an upgrade'));
    await conversation.reply('From the office');
    await chat.startApi();
    await talkAgain(visitor, conversation);
  });

  it('two tabs', async () => {
    const { visitor, conversation } = await begin();
    const second = await device.chatAt();
    for (let times = 1; times <= 3; times++) {
      await visitor.write(text('From the first tab'));
      await conversation.reply(`To both tabs ${times}`);
      await second.write(text('From the second tab'));
    }
    await expectSameMessages([visitor, second], conversation, written);
  });

  it('a tab that is killed while it sends', async () => {
    const { visitor, conversation } = await begin();
    chat.network.stall();
    await visitor.write(text('Last words'));
    await visitor.write(text('Very last words'));
    await device.crash(visitor);
    chat.network.endStall();
    const next = await device.chatAt();
    await expectSameMessages([next], conversation, written);
  });

  it('a tab that is killed after its message was stored', async () => {
    const { visitor, conversation } = await begin();
    chat.network.loseAnswers(1);
    await visitor.write(text('Stored, and forgotten'));
    await device.crash(visitor);
    const next = await device.chatAt();
    await talkAgain(next, conversation);
  });

  it('a tab that is closed offline, and a page opened again without opening the chat', async () => {
    const { visitor, conversation } = await begin();
    await device.context.setOffline(true);
    await visitor.write(text('Closed too early'));
    await visitor.page.close();
    await device.context.setOffline(false);
    const next = await device.visit();
    await waitFor(
      'the message to arrive',
      async () => (await conversation.messages()).length === 3,
      NOTICED_MS,
    );
    await next.open();
    await expectSameMessages([next], conversation, written);
  });

  it('a minute offline', async () => {
    const { visitor, conversation } = await begin();
    await device.context.setOffline(true);
    await visitor.write(text('In the tunnel'));
    await conversation.reply('Outside the tunnel');
    await letTimePass(MINUTE_MS);
    await visitor.write(text('Still in the tunnel'));
    await device.context.setOffline(false);
    await talkAgain(visitor, conversation);
  });

  it('a network that gives no answer', async () => {
    const { visitor, conversation } = await begin();
    chat.network.stall();
    await visitor.write(text('Hello?'));
    await conversation.reply('Hello!');
    await letTimePass(MINUTE_MS);
    chat.network.endStall();
    await talkAgain(visitor, conversation);
  });

  it.each([
    ['ahead', TWO_HOURS_MS],
    ['behind', -TWO_HOURS_MS],
  ])('a clock two hours %s', async (_, offsetMs) => {
    await device.shiftClock(offsetMs);
    const { visitor, conversation } = await begin();
    const second = await device.chatAt();
    await visitor.reload();
    await device.context.setOffline(true);
    await second.write(text('At another time'));
    await visitor.write(text('And at another'));
    await device.context.setOffline(false);
    await talkAgain(visitor, conversation);
    await expectSameMessages([second], conversation, written);
  });

  it('a clock that jumps between messages', async () => {
    await device.shiftClock(0);
    const { visitor, conversation } = await begin();
    await device.context.setOffline(true);
    await visitor.write(text('Before the jump'));
    await visitor.page.evaluate((ms) => Object.assign(window, { clockOffsetMs: ms }), -TWO_HOURS_MS);
    await visitor.write(text('After the jump'));
    await visitor.page.evaluate((ms) => Object.assign(window, { clockOffsetMs: ms }), TWO_HOURS_MS);
    await visitor.write(text('After another jump'));
    await device.context.setOffline(false);
    await talkAgain(visitor, conversation);
  });

  it.each(['throws', 'fails'] as const)('a storage that %s', async (how) => {
    await device.refuseStorage(how);
    const { visitor, conversation } = await begin();
    chat.network.killStreams();
    await device.context.setOffline(true);
    await visitor.write(text('Kept in memory'));
    await device.context.setOffline(false);
    await talkAgain(visitor, conversation);
    expect(visitor.errors).toEqual([]);
  });

  it.each(['/strict', '/nonce', '/trusted-types'])('the policy of the page %s', async (path) => {
    const before = chat.pages.violations.length;
    const { visitor, conversation } = await begin(path);
    await talkAgain(visitor, conversation);
    expect(chat.pages.violations.slice(before)).toEqual([]);
    expect(visitor.errors).toEqual([]);
  });

  it('a hostile page', async () => {
    const { visitor, conversation } = await begin('/hostile');
    await visitor.composer.focus();
    await visitor.page.keyboard.type('The shop has hotkeys');
    await visitor.page.keyboard.press('Enter');
    written.push('The shop has hotkeys');
    await visitor.waitFor('The shop has hotkeys', 'sent');
    await visitor.composer.fill('Half a sentence');
    await visitor.reload();
    expect(await visitor.composer.inputValue()).toBe('Half a sentence');
    await visitor.composer.fill('');
    await talkAgain(visitor, conversation);
    await visitor.page.locator('chat-widget input[type=file]').setInputFiles({
      name: 'list.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('One parcel'),
    });
    await visitor.write('With a file');
    await visitor.waitFor('With a file', 'sent');
    expect((await conversation.messages()).at(-1)!.attachments).toMatchObject([{ name: 'list.txt' }]);
    expect(visitor.errors).toEqual([]);
  });

  it('a page over plain http', async () => {
    const { visitor, conversation } = await begin(`${chat.pages.insecureOrigin}/shop`);
    expect(await visitor.page.evaluate(() => 'locks' in navigator)).toBe(false);
    const second = await device.chatAt(`${chat.pages.insecureOrigin}/shop`);
    await second.write(text('From a second tab'));
    await visitor.write(text('From the first tab'));
    await talkAgain(visitor, conversation);
    await expectSameMessages([second], conversation, written);
  });

  it('1,000 messages of history', async () => {
    const { visitor, conversation } = await begin();
    await visitor.page.close();
    for (let line = 0; line < 1000; line += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => conversation.reply(`Line ${line + index}.`)),
      );
    await conversation.reply('The last line');
    const next = await device.chatAt();
    await next.waitFor('The last line', 'received');
    await talkAgain(next, conversation);
  });

  it('50 replies in a second', async () => {
    const { visitor, conversation } = await begin();
    await Promise.all(Array.from({ length: 50 }, (_, index) => conversation.reply(`Reply ${index + 1}.`)));
    await visitor.write(text('That is a lot'));
    await talkAgain(visitor, conversation);
  });

  it('more messages than the service takes in a minute', async () => {
    const { visitor, conversation } = await begin();
    for (let count = 1; count <= 35; count++) await visitor.write(text('Hurry up'));
    await talkAgain(visitor, conversation);
  });

  it.each(['events', 'everything'] as const)('a proxy that holds back %s of the stream', async (heldBack) => {
    chat.network.holdBackStreams(heldBack);
    const visitor = await device.chatAt();
    const first = text('Good morning');
    await visitor.send(first);
    const conversation = await chat.desk.conversationWith(first);
    await conversation.reply('By polling');
    await visitor.waitFor('By polling', 'received', NOTICED_MS);
    await talkAgain(visitor, conversation);
  });

  it('a message that is refused, and tried again', async () => {
    const { visitor, conversation } = await begin();
    chat.network.refuseMessages(1);
    const refused = text('Refused at first');
    await visitor.write(refused);
    await visitor.waitFor(refused, 'failed');
    await visitor.reload();
    await visitor.waitFor(refused, 'failed');
    await visitor.message(refused).getByRole('button', { name: 'Try again' }).click();
    await talkAgain(visitor, conversation);
  });

  it('a chunk of the script that fails to load', async () => {
    const visitor = await device.visit();
    await visitor.launcher.waitFor();
    await device.context.setOffline(true);
    await visitor.launcher.click();
    const retry = visitor.page.locator('chat-widget').getByRole('button', { name: /try again|retry/i });
    await retry.waitFor();
    await device.context.setOffline(false);
    await retry.click();
    await visitor.composer.waitFor();
    const first = text('At the second try');
    await visitor.send(first);
    await talkAgain(visitor, await chat.desk.conversationWith(first));
  });
});
