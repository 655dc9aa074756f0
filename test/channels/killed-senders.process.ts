import { ChannelWorkspace } from '../support/channel-workspace';
import { ConnectedWorkspace, waitForStatus } from '../support/connected-workspace';
import { MessagingChannel, newCustomerId } from '../support/messaging-channel';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { InstagramSimulator } from '../support/simulators/instagram';
import { MessagingSimulator } from '../support/simulators/messaging-simulator';
import { MessengerSimulator } from '../support/simulators/messenger';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

/** A customer who has written over a channel. */
interface Line {
  account: ConnectedWorkspace;
  conversation: { id: string };
  customer: string;
  /** Tells the service what has become of the first message that was sent. */
  tell: () => Promise<unknown>;
}

async function callMeta(
  service: TestService,
  provider: MessagingSimulator,
  channel: 'MESSENGER' | 'INSTAGRAM',
): Promise<Line> {
  const account = await MessagingChannel.connect(service, provider, channel);
  const customer = newCustomerId();
  const { conversationId } = await account.write(customer, 'Opening hours?');
  const tell = () => account.notify(provider.echo(provider.sent[0]!));
  return { account, conversation: { id: conversationId }, customer, tell };
}

async function callWhatsApp(service: TestService, provider: WhatsAppSimulator): Promise<Line> {
  const phoneNumberId = '106540352242922';
  const appSecret = '0123456789abcdef0123456789abcdef';
  const customer = '16505551234';
  const credentials = { phoneNumberId, accessToken: 'EAAGsimulatedToken', appSecret };
  const account = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
  const hook = { url: account.connection.hookUrl, appSecret };
  const notify = (content: Parameters<WhatsAppSimulator['notification']>[1]) =>
    provider.notify(hook, provider.notification(phoneNumberId, content));
  await notify({ messages: [provider.message(customer, 'Hi')] });
  const tell = () => {
    const sent = provider.sent[0]!;
    return notify({ statuses: [provider.status(sent, 'read'), provider.status(sent, 'sent')] });
  };
  return { account, conversation: await account.conversationWith(customer), customer, tell };
}

const messenger = new MessengerSimulator();
const instagram = new InstagramSimulator();
const whatsApp = new WhatsAppSimulator();

it.each([
  {
    channel: 'Messenger',
    told: 'an echo after the lease',
    provider: messenger,
    env: () => ({ META_GRAPH_URL: messenger.url }),
    call: (service: TestService) => callMeta(service, messenger, 'MESSENGER'),
    becomes: 'SENT' as const,
  },
  {
    channel: 'Instagram',
    told: 'an echo before the end of the lease',
    isToldBefore: true,
    provider: instagram,
    env: () => ({ INSTAGRAM_GRAPH_URL: instagram.url }),
    call: (service: TestService) => callMeta(service, instagram, 'INSTAGRAM'),
    becomes: 'SENT' as const,
  },
  {
    channel: 'WhatsApp',
    told: 'receipts after the lease',
    provider: whatsApp,
    env: () => ({ META_GRAPH_URL: whatsApp.url }),
    call: (service: TestService) => callWhatsApp(service, whatsApp),
    becomes: 'READ' as const,
  },
])(
  'does not send again over $channel what a killed worker may have sent, and applies $told',
  async ({ provider, env, call, becomes, isToldBefore = false }) => {
    await provider.start();
    const service = await TestService.create({ env: env() });
    provider.hookOrigin = service.baseUrl;
    const worker = await ServiceProcess.start('worker', service.stores, env());
    const { account, conversation, customer, tell } = await call(service);
    const send = (body: string) => service.make.sent(account.workspace, conversation, body);
    provider.troubleNext({ kind: 'slow' });
    const first = await send('first');
    await waitFor('the call that sends', () => provider.sendsTo(customer).length === 1);
    await worker.end('SIGKILL');
    await waitForStatus(service, first, 'SENDING');
    if (isToldBefore) {
      await tell();
      await waitForStatus(service, first, becomes);
    }
    const second = await send('second');

    await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
    await ServiceProcess.start('worker', service.stores, env());
    if (!isToldBefore) {
      await waitForStatus(service, first, 'UNKNOWN');
      await tell();
    }
    await waitForStatus(service, second, 'SENT');
    expect(await waitForStatus(service, first, becomes)).toEqual({ status: becomes, error: null });
    const texts = provider.sendsTo(customer).map(({ body }) => body.message?.text ?? body.text.body);
    expect(texts).toEqual(['first', 'second']);
  },
);
