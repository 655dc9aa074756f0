import { SignJWT } from 'jose';
import { waitFor } from '../../support/wait';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { expectSameMessages } from '../same-messages';

/** Tests of sessions: identities of visitors, and the next visitor at the same device. */

jest.setTimeout(180_000);

interface ChatWidget {
  identify(visitor: object): unknown;
  logout(): unknown;
}

describe('a visitor', () => {
  let chat: LiveChat;
  let device: Device;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    device = await chat.device();
  });
  afterEach(() => device.close());

  const jwtOf = (id: string, name: string) =>
    new SignJWT({ name, email: `${id}@example.com` })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(id)
      .setExpirationTime('5 min')
      .sign(new TextEncoder().encode(chat.widget.identitySecret));
  const identify = async ({ page }: ChatPage, visitor: object) => {
    await page.evaluate(
      (who) => void (window as unknown as { chatWidget: ChatWidget }).chatWidget.identify(who),
      visitor,
    );
  };
  const logout = ({ page }: ChatPage) =>
    page.evaluate(() => void (window as unknown as { chatWidget: ChatWidget }).chatWidget.logout());
  const textOf = (tab: ChatPage) => tab.panel.innerText();

  it('who logs in is the contact that the server says, in every browser', async () => {
    const jwt = await jwtOf('anna', 'Anna Berg');
    const tab = await device.chatAt('/shop', [['identify', { jwt }]]);
    await tab.send('Anna at home');
    const conversation = await chat.desk.conversationWith('Anna at home');
    expect(await conversation.contact()).toMatchObject({ name: 'Anna Berg', verified: ['email', 'name'] });
    const phone = await chat.device();
    const there = await phone.chatAt('/shop', [
      ['identify', { id: 'anna', signature: chat.widget.sign('anna') }],
    ]);
    await there.waitFor('Anna at home', 'sent');
    await phone.close();
  });

  it('who logs in takes along what was not sent yet', async () => {
    const tab = await device.chatAt();
    await tab.send('Nobody in particular');
    await device.context.setOffline(true);
    await tab.write('Written as nobody, sent as Carl');
    await identify(tab, { id: 'carl', signature: chat.widget.sign('carl') });
    await device.context.setOffline(false);
    await tab.waitFor('Written as nobody, sent as Carl', 'sent');
    const conversation = await chat.desk.conversationWith('Written as nobody, sent as Carl');
    await expectSameMessages([tab], conversation, ['Written as nobody, sent as Carl']);
  });

  it('nobody sees or sends the messages of another at the same device', async () => {
    const [first, second] = [await device.chatAt(), await device.chatAt()];
    for (const tab of [first, second]) await identify(tab, { jwt: await jwtOf('dora', 'Dora') });
    await first.send('Dora asks');
    const ofDora = await chat.desk.conversationWith('Dora asks');
    await ofDora.reply('Only for Dora');
    for (const tab of [first, second]) await tab.waitFor('Only for Dora', 'received');
    await device.context.setOffline(true);
    await first.write('Dora, unsent');
    await logout(first);
    for (const tab of [first, second])
      await waitFor('an empty log', async () => !/Dora/.test(await textOf(tab)));
    await device.context.setOffline(false);

    for (const tab of [first, second]) await identify(tab, { jwt: await jwtOf('emil', 'Emil') });
    await second.send('Emil asks');
    const ofEmil = await chat.desk.conversationWith('Emil asks');
    expect(ofEmil.id).not.toBe(ofDora.id);
    await ofDora.reply('Still only for Dora');
    await ofEmil.reply('Only for Emil');
    for (const tab of [first, second]) {
      await tab.waitFor('Only for Emil', 'received');
      expect(await textOf(tab)).not.toContain('Dora');
    }
    expect((await ofDora.messages()).map(({ body }) => body)).not.toContain('Dora, unsent');

    await logout(second);
    for (const tab of [first, second]) await identify(tab, { jwt: await jwtOf('dora', 'Dora') });
    await first.waitFor('Dora, unsent', 'sent');
    await expectSameMessages([first, second], ofDora, ['Dora asks', 'Dora, unsent']);
    expect((await ofEmil.messages()).map(({ body }) => body)).toEqual(['Emil asks', 'Only for Emil']);
  });

  it('who logs out begins anew, as nobody', async () => {
    const tab = await device.chatAt();
    await identify(tab, { jwt: await jwtOf('fritz', 'Fritz') });
    await tab.send('Fritz asks');
    await logout(tab);
    await waitFor('an empty log', async () => (await tab.shown()).length === 0);
    await tab.reload();
    await tab.send('Somebody asks');
    expect(await tab.shown()).toHaveLength(1);
    const contact = await (await chat.desk.conversationWith('Somebody asks')).contact();
    expect(contact.name).not.toBe('Fritz');
  });

  it('whose signature is wrong gets an error, and no session', async () => {
    const tab = await device.visit();
    await tab.launcher.waitFor();
    const failed = tab.page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const { chatWidget } = window as unknown as {
            chatWidget: ChatWidget & { on(event: string, listener: (error: unknown) => void): void };
          };
          chatWidget.on('error', (error) => resolve(String((error as Error).message ?? error)));
          chatWidget.identify({ id: 'gerd', signature: '0'.repeat(64) });
        }),
    );
    await tab.open();
    expect(await failed).not.toBe('');
    await tab.notice.first().waitFor();
  });

  it('who gives a name and an e-mail address is known by them', async () => {
    const form = { name: 'required', email: 'optional' };
    const tab = await device.visit('/shop', [['set', { form }]]);
    await tab.launcher.click();
    await tab.panel.getByRole('textbox', { name: 'Name' }).fill('Hanna Holm');
    await tab.panel.getByRole('textbox', { name: 'E-mail' }).fill('hanna@example.com');
    await tab.panel.getByRole('button', { name: 'Start chat' }).click();
    await tab.send('Hanna asks');
    const contact = await (await chat.desk.conversationWith('Hanna asks')).contact();
    expect(contact).toMatchObject({ name: 'Hanna Holm', email: 'hanna@example.com', verified: [] });
    await tab.reload();
    await tab.send('Hanna asks again');
  });
});
