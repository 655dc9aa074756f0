import { AlertKind } from '../../src/alerts/alert-kinds';
import { AlertsService } from '../../src/alerts/alerts.service';
import { SYSTEM } from '../../src/access/principal';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { LostMessagesService } from '../../src/messages/lost-messages.service';
import { ConnectedWorkspace, waitForStatus } from '../support/connected-workspace';
import { expectRefusal } from '../support/errors';
import { Mailbox } from '../support/mailbox';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';
import { TestWidget } from '../support/widget';
import { testSilences } from './silences';

const MAIL_FROM = 'login@example.com';

/** Scenarios of the table of silences that need one process, and servers beside it. */
describe('while a part fails', () => {
  let telegram: TelegramSimulator;
  let mailbox: Mailbox;
  let service: TestService;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    mailbox = await Mailbox.start();
    const mail = { SMTP_URL: mailbox.url, MAIL_FROM, ANSWER_MAIL_SECONDS: '1' };
    service = await TestService.create({ role: 'all', env: { ...telegram.environment, ...mail } });
  });

  const get = <T>(part: new (...injected: never[]) => T) => service.app.get<T>(part, { strict: false });
  const openAlerts = async (tenantId: string) =>
    (await get(AlertsService).list(tenantId, { open: true }, SYSTEM)).data.map(({ kind }) => kind);
  const waitForAlerts = (tenantId: string, ...kinds: AlertKind[]) =>
    waitFor(`the alerts ${kinds.join()}`, async () => (await openAlerts(tenantId)).join() === kinds.join());
  /** Reads the kinds of alerts of which events tell, each with the end of the event's name. */
  const alertEvents = async (tenantId: string) => {
    const rows = await service.query<{ told: string }>(
      `SELECT concat(data->>'kind', ' ', split_part(type, '.', 2)) AS told FROM events
       WHERE tenant_id = $1 AND type LIKE 'alert.%' ORDER BY id`,
      [tenantId],
    );
    return rows.map(({ told }) => told);
  };

  testSilences('service', {
    'provider: owner': async () => {
      const channel = await ConnectedWorkspace.telegram(service);
      const { id } = channel.workspace;
      const botToken = TelegramSimulator.token(Number(channel.connection.externalId));
      telegram.revokedTokens.add(botToken);
      const chat = await channel.chat();
      await waitForStatus(service, await chat.send('refused'), 'FAILED');
      expect(await openAlerts(id)).toEqual(['CHANNEL_NEEDS_CREDENTIALS']);
      telegram.revokedTokens.delete(botToken);
      await channel.rotate({ botToken });
      expect(await openAlerts(id)).toEqual([]);
      expect(await alertEvents(id)).toEqual([
        'CHANNEL_NEEDS_CREDENTIALS opened',
        'CHANNEL_NEEDS_CREDENTIALS resolved',
      ]);
    },

    'provider: agent': async () => {
      const channel = await ConnectedWorkspace.telegram(service);
      const { id } = channel.workspace;
      const chat = await channel.chat();
      telegram.blockedBy.add(Number(chat.customerId));
      const reply = await chat.send('blocked');
      expect(await waitForStatus(service, reply, 'FAILED')).toMatchObject({
        error: { code: 'REFUSED', message: 'Forbidden: bot was blocked by the user' },
      });
      const notDelivered = async () =>
        (await get(ConversationsService).listActive(id, { view: 'lost' }, SYSTEM)).data.map(
          ({ lost }) => lost,
        );
      expect(await notDelivered()).toEqual(['FAILED']);
      await get(LostMessagesService).dismiss(id, chat.conversation.id, { messageId: reply.id }, SYSTEM);
      expect(await notDelivered()).toEqual([]);
    },

    'receiver: owner': async () => {
      const receiver = await Receiver.start();
      const tenant = await WebhookWorkspace.create(service);
      const endpoint = await tenant.addEndpoint(receiver.url());
      receiver.https.respond = (response) => response.writeHead(500).end();
      await tenant.exhaust(endpoint);
      await waitForAlerts(tenant.id, 'ENDPOINT_FAILING');
      receiver.https.respond = (response) => response.writeHead(200).end();
      await tenant.message();
      await waitForAlerts(tenant.id);
      expect(await alertEvents(tenant.id)).toEqual(['ENDPOINT_FAILING opened', 'ENDPOINT_FAILING resolved']);
      await receiver.stop();
    },

    'mail: owner': async () => {
      const options = { beside: service, mailFrom: MAIL_FROM, appUrl: 'https://app.example.com' };
      const host = await MessagingHost.create({ ...options, smtpUrl: mailbox.url });
      const workspace = await service.make.workspace();
      const agent = await service.make.agent(workspace);
      const invite = () => host.get(InvitationsService).invite(workspace.id, agent.id, {}, SYSTEM);
      mailbox.refusal = 'come again later';
      await expectRefusal(invite(), 'UNAVAILABLE');
      mailbox.refusal = null;
      expect(await invite()).toMatchObject({ isMailed: true });
      await mailbox.next(agent.email);
      await host.close();
    },

    'mail: visitor': async () => {
      const { client, workspace } = await createTenant(service);
      const visitor = await (await TestWidget.connect(service, workspace)).visitor();
      await visitor.post('m-1', 'Do you ship to Spain?');
      const email = 'zoe@example.com';
      await visitor.send('POST', '/answer-address', { email, locale: 'en' });
      const { conversationId } = (await visitor.open()).body;
      const noticeOf = async () => {
        const [notice] = await service.query<{ tries: number; isAgain: boolean }>(
          `SELECT tries, due_at BETWEEN now() AND now() + interval '70 seconds' AS "isAgain" FROM answer_notices
           WHERE conversation_id = $1`,
          [conversationId],
        );
        return notice;
      };
      mailbox.fault = 'greylists';
      await client.post(`/conversations/${conversationId}/messages`, { body: 'Yes, we do.' });
      await waitFor('a try that failed', async () => {
        const notice = await noticeOf();
        return notice?.tries === 1 && notice.isAgain;
      });
      const { body } = await visitor.history();
      expect(body.data[0].body).toBe('Yes, we do.');
      mailbox.fault = null;
      await service.query('UPDATE answer_notices SET due_at = now() WHERE conversation_id = $1', [
        conversationId,
      ]);
      expect((await mailbox.next(email)).text).toContain('> Yes, we do.');
      await visitor.receipt(body.data[0].id as string, 'READ');
      mailbox.fault = 'unknown';
      await client.post(`/conversations/${conversationId}/messages`, { body: 'In three days.' });
      const address = async () => (await visitor.send('GET', '/answer-address')).body.address as string;
      await waitFor('the widget to ask for an address', async () => (await address()) === 'NONE');
      mailbox.fault = null;
    },

    'worker: visitor': async () => {
      const api = await TestService.create({ role: 'api' });
      const { client, workspace } = await createTenant(api);
      const visitor = await (await TestWidget.connect(api, workspace)).visitor();
      await visitor.post('m-1', 'Do you ship to Spain?');
      const { conversationId } = (await visitor.open()).body;
      const stream = await visitor.stream();
      await stream.next('ready');
      await client.post(`/conversations/${conversationId}/messages`, { body: 'Yes, we do.' });
      await api.app.get(VisitorStreams, { strict: false }).sendHeartbeats();
      expect((await stream.next('heartbeat')).data).toMatchObject({ sequence: 2 });
      expect((await visitor.history()).body.data[0].body).toBe('Yes, we do.');
      expect(stream.listEvents('message')).toEqual([]);
      await TestService.create({ role: 'worker', beside: api });
      expect((await stream.next('message')).data.message.body).toBe('Yes, we do.');
      stream.close();
    },
  });
});
