import { waitFor } from '../support/wait';
import { ChatPage } from './chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from './live-chat';
import { pngOf } from './sample-files';

const PARCEL = pngOf('parcel.png', 640, 480);

describe('a cancelled message with files', () => {
  let chat: LiveChat;
  let device: Device;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
  });
  afterEach(() => device.close());

  const cancel = (visitor: ChatPage, text: string) =>
    visitor.message(text).getByRole('button', { name: 'Cancel' }).click();
  /** Returns the number of files that take the workspace's space. */
  const keptFiles = async () =>
    (
      await chat.office.query('SELECT FROM files WHERE tenant_id = $1 AND delete_at > now()', [
        chat.workspace.id,
      ])
    ).length;

  it('is taken back if the service stores it meanwhile', async () => {
    const visitor = await device.chatAt();
    await visitor.send('First');
    const conversation = await chat.desk.conversationWith('First');
    let arrive = () => {};
    const cancelled = new Promise<void>((resolve) => (arrive = resolve));
    await visitor.page.route('**/messages', async (route) => {
      await cancelled;
      await route.continue();
    });
    await visitor.choose(PARCEL);
    const posted = visitor.page.waitForRequest('**/messages');
    await visitor.write('Sent by mistake');
    await posted;
    await cancel(visitor, 'Sent by mistake');
    arrive();
    await waitFor('the message to be stored and erased', async () => {
      return (await conversation.messages())[1]?.body === '';
    });
    await visitor.message('Sent by mistake').waitFor({ state: 'detached' });
  });

  it('leaves no upload behind', async () => {
    const visitor = await device.chatAt();
    await visitor.send('Second');
    const before = await keptFiles();
    await visitor.page.route('**/uploads/*/content', () => undefined);
    await visitor.choose(PARCEL);
    await visitor.write('Not sent');
    await waitFor('the upload to begin', async () => (await keptFiles()) === before + 1);
    await cancel(visitor, 'Not sent');
    await waitFor('the upload to be deleted', async () => (await keptFiles()) === before);
  });

  it('is not sent by a tab that did not hear of it', async () => {
    await device.context.addInitScript(() => {
      Object.defineProperty(BroadcastChannel.prototype, 'onmessage', {
        set(this: BroadcastChannel, listener: (event: Event) => void) {
          this.addEventListener('message', (event) => 'isDeaf' in window || listener(event));
        },
      });
    });
    const first = await device.chatAt();
    await first.send('Third');
    const conversation = await chat.desk.conversationWith('Third');
    const second = await device.chatAt();
    await second.waitFor('Third', 'sent');
    await chat.network.cut();
    await first.choose(PARCEL);
    await first.write('Of the deaf tab');
    await second.waitFor('Of the deaf tab', 'sending');
    await first.page.evaluate(() => {
      Object.assign(window, { isDeaf: true });
      document.dispatchEvent(new Event('freeze'));
    });
    await cancel(second, 'Of the deaf tab');
    await second.message('Of the deaf tab').waitFor({ state: 'detached' });
    await chat.network.restore();
    await second.send('Fourth');
    await second.page.close();
    await first.page.evaluate(() => document.dispatchEvent(new Event('resume')));
    await first.message('Of the deaf tab').waitFor({ state: 'detached' });
    await first.send('Fifth');
    const bodies = (await conversation.messages()).map(({ body }) => body);
    expect(bodies).toEqual(['Third', 'Fourth', 'Fifth']);
  });
});
