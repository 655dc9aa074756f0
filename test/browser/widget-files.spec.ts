import { Device, LiveChat, START_TIMEOUT_MS } from './live-chat';
import { pngOf, textFile } from './sample-files';

describe('files in the widget', () => {
  let chat: LiveChat;
  let device: Device;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await device_();
  });
  const device_ = () => chat.device();
  afterEach(() => device.close());

  it('keeps chosen files with the draft', async () => {
    const visitor = await device.chatAt('/strict');
    await visitor.choose(pngOf('parcel.png', 1600, 1200), textFile('invoice.pdf', '%PDF-1.4'));
    await visitor.composer.fill('Broken');
    await visitor.page.screenshot({ path: '/tmp/shot-chosen.png' });
    await visitor.reload();
    await visitor.chosen('parcel.png').waitFor();
    await visitor.page.screenshot({ path: '/tmp/shot-chosen2.png' });
    await visitor.composer.press('Enter');
    await visitor.page.waitForTimeout(1500);
    await visitor.page.screenshot({ path: '/tmp/shot-sending.png' });
    await visitor.page.locator('chat-widget .picture').click();
    await visitor.page.waitForTimeout(700);
    await visitor.page.screenshot({ path: '/tmp/shot-viewer.png' });
    expect(visitor.errors).toEqual([]);
    expect(chat.pages.violations).toEqual([]);
  });
});
