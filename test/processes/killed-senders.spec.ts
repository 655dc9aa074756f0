import { ChannelWorkspace } from '../support/channel-workspace';
import { MessagingChannel, newCustomerId } from '../support/messaging-channel';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { InstagramSimulator } from '../support/simulators/instagram';
import { MessengerSimulator } from '../support/simulators/messenger';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { waitFor } from '../support/wait';

describe('Messenger, when a worker is killed while it sends', () => {
  it('does not send again, and recognizes the echo', async () => {
    const provider = await new MessengerSimulator().start();
    const env = { META_GRAPH_URL: provider.url };
    const service = await TestService.create({ env });
    provider.hookOrigin = service.baseUrl;
    const customer = newCustomerId();
    let worker = await ServiceProcess.start('worker', service.stores, env);
    try {
      const page = await MessagingChannel.connect(service, provider, 'MESSENGER');
      provider.troubleNext({ kind: 'slow' });
      const message = await page.converse(customer, 'first');
      await waitFor('the call that sends', () => provider.sendsTo(customer).length === 1);
      worker.kill('SIGKILL');
      await worker.exited;
      const { conversationId } = (await page.messagesWith(customer))[0]!;
      const next = await page.send(conversationId, 'second');

      await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
      worker = await ServiceProcess.start('worker', service.stores, env);
      await page.delivery(message, ['UNKNOWN']);
      await page.notify(provider.echo(provider.sent[0]!));
      await page.delivery(message, ['SENT']);
      await page.delivery(next, ['SENT']);
      expect(provider.sendsTo(customer).map(({ body }) => body.message.text)).toEqual(['first', 'second']);
    } finally {
      worker.kill('SIGKILL');
      await worker.exited;
      await service.close();
      await provider.stop();
    }
  }, 60_000);
});

describe('Instagram, when a worker is killed while it sends', () => {
  it('does not send again, and recognizes the echo', async () => {
    const provider = await new InstagramSimulator().start();
    const env = { INSTAGRAM_GRAPH_URL: provider.url };
    const service = await TestService.create({ env });
    provider.hookOrigin = service.baseUrl;
    const customer = newCustomerId();
    let worker = await ServiceProcess.start('worker', service.stores, env);
    try {
      const account = await MessagingChannel.connect(service, provider, 'INSTAGRAM');
      provider.troubleNext({ kind: 'slow' });
      const message = await account.converse(customer, 'first');
      await waitFor('the call that sends', () => provider.sendsTo(customer).length === 1);
      worker.kill('SIGKILL');
      await worker.exited;
      // The echo arrives before the lease ends.
      await account.notify(provider.echo(provider.sent[0]!));
      await account.delivery(message, ['SENT']);
      const next = await account.send((await account.messagesWith(customer))[0]!.conversationId, 'second');

      await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
      worker = await ServiceProcess.start('worker', service.stores, env);
      await account.delivery(next, ['SENT']);
      expect(await account.delivery(message, ['SENT', 'UNKNOWN'])).toMatchObject({ status: 'SENT' });
      expect(provider.sendsTo(customer).map(({ body }) => body.message.text)).toEqual(['first', 'second']);
    } finally {
      worker.kill('SIGKILL');
      await worker.exited;
      await service.close();
      await provider.stop();
    }
  }, 60_000);
});

describe('WhatsApp, when a worker is killed while it sends', () => {
  it('does not send again, and applies the receipts', async () => {
    const provider = await new WhatsAppSimulator().start();
    const env = { META_GRAPH_URL: provider.url };
    const service = await TestService.create({ env });
    provider.hookOrigin = service.baseUrl;
    const phoneNumberId = '106540352242922';
    const appSecret = '0123456789abcdef0123456789abcdef';
    const customer = '16505551234';
    let worker = await ServiceProcess.start('worker', service.stores, env);
    try {
      const credentials = { phoneNumberId, accessToken: 'EAAGsimulatedToken', appSecret };
      const shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
      const hook = { url: shop.connection.hookUrl, appSecret };
      const notify = (content: Parameters<WhatsAppSimulator['notification']>[1]) =>
        provider.notify(hook, provider.notification(phoneNumberId, content));
      await notify({ messages: [provider.message(customer, 'Hi')] });
      const conversation = await shop.conversationWith(customer);

      provider.troubleNext({ kind: 'slow' });
      const first = await shop.send(conversation, 'first');
      const sent = await waitFor('a message', () => provider.sent[0]);
      worker.kill('SIGKILL');
      await worker.exited;
      expect((await shop.delivery(first)).status).toBe('SENDING');
      const second = await shop.send(conversation, 'second');
      await service.query(`UPDATE outbound_messages SET next_attempt_at = now() - interval '1 second'
                           WHERE lease_id IS NOT NULL`);

      worker = await ServiceProcess.start('worker', service.stores, env);
      await shop.delivered(first, 'UNKNOWN');
      await notify({ statuses: [provider.status(sent, 'read'), provider.status(sent, 'sent')] });
      expect(await shop.delivery(first)).toEqual({ status: 'READ', error: null });
      await shop.delivered(second, 'SENT');
      expect(provider.sendsTo(customer).map(({ body }) => body.text.body)).toEqual(['first', 'second']);
    } finally {
      worker.kill('SIGKILL');
      await worker.exited;
      await service.close();
      await provider.stop();
    }
  }, 60_000);
});
